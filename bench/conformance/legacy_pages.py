"""Pages in 19 legacy charsets that declare none: a paragraph of our own in the language that used each charset."""

from __future__ import annotations

from collections.abc import Iterator

_PARAGRAPHS = {
    "ru": "Ветряные электростанции стоят на берегу моря, где ветер дует почти каждый день. Весной их осматривают "
    "инженеры: они проверяют лопасти, меняют масло и записывают показания приборов. ",
    "ja": "海沿いの丘には風車が並び、ほとんど毎日のように強い風が吹いている。"
    "春になると技術者が羽根を点検し、油を交換して計器の値を記録する。",
    "ko": "바닷가 언덕에는 풍차가 늘어서 있고 거의 날마다 강한 바람이 분다. "
    "봄이 되면 기술자들이 날개를 점검하고 기름을 바꾸며 값을 적는다. ",
    "zh": "海边的山坡上立着许多风力发电机，那里几乎每天都刮大风。"
    "春天的时候，工程师会来检查叶片，更换机油，并且记录仪表上的数字。",
    "zh-Hant": "海邊的山坡上立著許多風力發電機，那裡幾乎每天都颳大風。"
    "春天的時候，工程師會來檢查葉片，更換機油，並且記錄儀表上的數字。",
    "de": "An der Küste stehen große Windräder, denn dort weht fast täglich ein kräftiger Wind. Im Frühjahr prüfen "
    "Techniker die Flügel, wechseln das Öl und schreiben die Messwerte auf. ",
    "pl": "Na wzgórzach nad morzem stoją wiatraki, bo prawie każdego dnia wieje tam silny wiatr. Wiosną inżynierowie "
    "sprawdzają łopaty, zmieniają olej i zapisują wskazania przyrządów. ",
    "el": "Στους λόφους δίπλα στη θάλασσα υπάρχουν ανεμογεννήτριες, γιατί εκεί φυσάει σχεδόν κάθε μέρα. Την άνοιξη οι "
    "τεχνικοί ελέγχουν τα πτερύγια και αλλάζουν τα λάδια. ",
    "ar": "تقف توربينات الرياح على التلال قرب البحر لأن الريح تهب هناك كل يوم تقريبا. في الربيع يفحص المهندسون الشفرات "
    "ويغيرون الزيت ويسجلون القراءات. ",
    "he": "על הגבעות ליד הים עומדות טורבינות רוח, כי כמעט בכל יום נושבת שם רוח חזקה. באביב בודקים המהנדסים את הלהבים "
    "ומחליפים את השמן. ",
    "tr": "Deniz kıyısındaki tepelerde rüzgâr türbinleri durur, çünkü orada hemen her gün güçlü rüzgâr eser. Baharda "
    "mühendisler kanatları inceler, yağı değiştirir ve ölçümleri yazar. ",
    "th": "บนเนินเขาริมทะเลมีกังหันลมตั้งอยู่มากมาย เพราะที่นั่นมีลมแรงเกือบทุกวัน ในฤดูใบไม้ผลิวิศวกรจะตรวจใบพัดและเปลี่ยนน้ำมัน ",
}
_CHARSETS = {
    "ru": ("cp1251", "koi8-r", "iso8859-5"),
    "ja": ("shift_jis", "euc_jp", "iso2022_jp"),
    "ko": ("euc_kr",),
    "zh": ("gb18030", "gb2312"),
    "zh-Hant": ("big5",),
    "de": ("iso8859-1",),
    "pl": ("iso8859-2", "cp1250"),
    "el": ("cp1253", "iso8859-7"),
    "ar": ("cp1256",),
    "he": ("cp1255",),
    "tr": ("iso8859-9",),
    "th": ("cp874",),
}
_REPEATED = 6


def legacy_pages() -> Iterator[tuple[str, bytes, str]]:
    """Yield charset, bytes and text of each page; characters that a charset lacks are left out."""
    for language, charsets in _CHARSETS.items():
        paragraph = _PARAGRAPHS[language] * _REPEATED
        html = f"<!doctype html><html><head><title>1</title></head><body><p>{paragraph}</p></body></html>"
        for charset in charsets:
            body = html.encode(charset, "ignore")
            yield charset, body, body.decode(charset)
