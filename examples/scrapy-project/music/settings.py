"""The settings of the project; the last two lines are all that Thresher needs."""

BOT_NAME = "music"
SPIDER_MODULES = ["music.spiders"]
ITEM_PIPELINES = {
    "music.pipelines.WithTitle": 100,
    "music.pipelines.JsonLines": 200,
}

ADDONS = {"thresher_scrapy.addon.TopicalAddon": 300}
THRESHER_TOPIC = "topic.yaml"
