"""Which rows of the token table speak for the labels of the measured webs; written before anything was measured."""

from __future__ import annotations


def _rows(**topics: str) -> dict[str, list[str]]:
    return {topic: [" ".join(label.split()) for label in labels.split(",")] for topic, labels in topics.items()}


FAMILIES = _rows(
    arts="""Arts, Music, Classical Music, Film, Television, Radio, Video, Literature, Novels, Poetry, Comics, Animation,
        Photography, Pictures, Painting, Calligraphy, Design, Architecture, Dance, Theatre, Opera, Crafts, Celebrities,
        Entertainment, Culture""",
    business="""Business, Economy, Finance, Stocks, Funds, Futures, Foreign Exchange, Banking, Insurance, Investment,
        Accounting, Taxes, Trade, E-Commerce, Marketing, Advertising, Real Estate, Construction, Manufacturing,
        Agriculture, Food Industry, Chemicals, Mining, Energy, Oil and Gas, Electricity, Logistics, Transport, Aviation,
        Railways, Ships, Textiles, Packaging, Printing, Machinery, Jobs, Management, Small Business, Telecommunications,
        Electronics, Semiconductors, Translation""",
    computers="""Computers, Information Technology, Technology, Software, Hardware, Internet, Programming, Open Source,
        Databases, Security, Artificial Intelligence, Machine Learning, Robotics, Operating Systems, Web Design,
        Hosting, Downloads, Mobile Phones, Digital Products, Data""",
    games="Games, Online Games, Board Games, Chess, Cards, Lottery",
    health="""Health, Medicine, Traditional Chinese Medicine, Hospitals, Pharmacy, Nursing, Dentistry, Mental Health,
        Nutrition, Fitness, Weight Loss, Cancer, Beauty, Senior Health""",
    home="""Home, Family, Parenting, Cooking, Food, Gardening, Furniture, Home Improvement, Home Appliances""",
    kids="Kids and Teens",
    news="News, Media, Magazines, Weather, Weblogs",
    recreation="""Recreation, Travel, Hotels, Outdoors, Camping, Fishing, Hunting, Pets, Dogs, Cats, Birds, Horses,
        Collecting, Humor, Automobile, Motorcycles, Climbing, Sailing, Drinks, Wine, Tea, Coffee, Restaurants""",
    reference="""Reference, Education, Universities, Schools, Examinations, Study Abroad, Distance Learning, Libraries,
        Dictionaries, Encyclopedias, Maps, Museums, Admissions, Alumni""",
    science="""Science, Mathematics, Statistics, Physics, Chemistry, Biology, Life Sciences, Ecology, Environment,
        Geography, Geology, Astronomy, Space, Materials Science, Engineering, Civil Engineering, Automation, Optics,
        Nanotechnology, Psychology, Sociology, Anthropology, Archaeology""",
    shopping="Shopping, Clothing, Fashion, Jewelry, Shoes, Gifts, Flowers, Auctions, Toys, Books",
    society="""Society, Law, Government, Politics, Police, Religion, Christianity, Catholicism, Islam, Buddhism, Taoism,
        Judaism, Women, Youth, Charity, Marriage, Dating, Genealogy, Human Rights, History, Philosophy, Military,
        Astrology""",
    sports="""Sports, Football, American Football, Basketball, Volleyball, Tennis, Table Tennis, Badminton, Baseball,
        Golf, Swimming, Running, Skiing, Skating, Ice Hockey, Cricket, Boxing, Martial Arts, Motor Racing, Bicycles,
        Olympics""",
)
"""Top categories of the Open Directory; the first row of each is the category itself."""

DISCIPLINES = _rows(
    news="News",
    library="Libraries",
    government_politics="Government, Politics",
    careers_jobs="Jobs",
    literature="Literature",
    economics="Economy",
    computer_science="Computers, Software, Artificial Intelligence",
    history="History",
    philosophy="Philosophy",
    sociology="Sociology",
    law="Law",
    real_estate_dept="Real Estate",
    chemistry="Chemistry",
    biology="Biology, Life Sciences",
    environment="Environment",
    statistics="Statistics, Data",
    business="Business, Management",
    mathematics="Mathematics",
    physics="Physics",
    materials="Materials Science",
    pharmacy="Pharmacy",
    international="International",
    medicine="Medicine",
    tourism="Travel",
    admissions="Admissions",
    electronics="Electronics, Semiconductors",
    finance="Finance",
)
"""Labels of the hosts of a Chinese university; offices that the table has no row for are left out."""

OFFICES = {"news", "library", "careers_jobs", "real_estate_dept", "international", "admissions"}
"""Labels among them that are no disciplines: any site has pages of news, so a path that says so is no false match."""

SECTIONS = _rows(
    teaching="Education",
    news="News",
    international="International",
    admission_jobs="Admissions, Jobs",
    download="Downloads",
    alumni="Alumni",
)
"""Sections of that university's sites, taken from breadcrumbs."""
