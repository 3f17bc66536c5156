"""What rules mean, as data: the questions that the test suites of other parsers ask, in our own words and paths.

Each case is a robots.txt, and verdicts about paths of its host for the product token `Thresher`: `+/path` may be
fetched, `-/path` may not. The questions follow RFC 9309, the documentation and tests of Google's parser, and those of
Protego. `DIFFERENCES` are the cases in which these disagree, with what we chose and why.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A file and what it means for us; `why` is for the cases about which parsers disagree."""

    name: str
    text: bytes
    verdicts: tuple[str, ...]
    why: str = ""


def case(name: str, text: str | bytes, verdicts: str, why: str = "") -> Case:
    """Write a case in one line; ``|`` ends a line of the file."""
    body = text if isinstance(text, bytes) else text.replace("|", "\n").encode()
    return Case(name, body, tuple(verdicts.split()), why)


LINES = [
    case("an empty file forbids nothing", "", "+/ +/shed"),
    case("a plain rule", "User-agent: *|Disallow: /shed", "+/ +/she -/shed -/shed/tools +/barn"),
    case("everything", "User-agent: *|Disallow: /", "-/ -/shed -/a?b=c"),
    case("nothing", "User-agent: *|Disallow:", "+/ +/shed"),
    case("an empty allow changes nothing", "User-agent: *|Disallow: /shed|Allow:", "-/shed +/barn"),
    case("rules before any agent are nobody's", "Disallow: /|User-agent: *|Allow: /x", "+/ +/shed"),
    case("names of fields in any case", "USER-AGENT: *|dIsAlLoW: /shed|ALLOW: /shed/open", "-/shed +/shed/open"),
    case("no blank after the colon", "User-agent:*|Disallow:/shed", "-/shed +/barn"),
    case("blanks everywhere", "  User-agent  :   *  |\t Disallow\t:\t /shed \t", "-/shed +/barn"),
    case("a NUL ends its line", b"User-agent: *\0\nDisallow: /sh\0ed\nDisallow: /barn", "-/barn -/shed +/s"),
    case("a colon forgotten", "User-agent *|Disallow /shed", "-/shed +/barn"),
    case("misprints that people make", "Useragent: *|Dissallow: /a|Disalow: /b|Diasllow: /c", "-/a -/b -/c +/d"),
    case("agent in two words", "User agent: *|Disallow: /shed", "-/shed +/barn"),
    case("a comment behind a rule", "User-agent: * # all|Disallow: /shed # tools|#Disallow: /barn", "-/shed +/barn"),
    case("a sign that begins a comment inside a path", "User-agent: *|Disallow: /a#b", "-/a -/ab +/b"),
    case("line ends of the old Macintosh", b"User-agent: *\rDisallow: /shed\rAllow: /shed/open", "-/shed +/shed/open"),
    case("line ends of DOS", b"User-agent: *\r\nDisallow: /shed\r\n\r\nAllow: /shed/open\r\n", "-/shed +/shed/open"),
    case("line ends mixed, last one missing", b"User-agent: *\r\n\nDisallow: /a\r\rDisallow: /b", "-/a -/b +/c"),
    case("blank lines inside a group", "User-agent: *|||Disallow: /a|||Disallow: /b", "-/a -/b +/c"),
    case("a byte order mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /shed", "-/shed +/barn"),
    case("two bytes of a byte order mark", b"\xef\xbbUser-agent: *\nDisallow: /shed", "-/shed +/barn"),
    case("a mark in a later line", b"User-agent: *\nDisallow: /a\n\xef\xbb\xbfDisallow: /b", "-/a +/b"),
    case("a mark that is none", b"\xef\x11\xbfUser-agent: *\nDisallow: /shed", "+/shed +/barn"),
    case("bytes that are no text", b"User-agent: *\nDisallow: /\xff\xfe\nDisallow: /shed", "-/shed +/barn"),
    case("a web page", "<!DOCTYPE html><title>Disallow: /</title>|<p>User-agent: *", "+/ +/shed"),
    case(
        "a line of 400,000 letters", "User-agent: *|Disallow: /" + "y" * 400_000 + "|Disallow: /shed", "-/shed +/barn"
    ),
    case("the end of a line far too long", "User-agent: *|Disallow: /s" + " " * 20_000 + "|Allow: /s/o", "-/s/p +/s/o"),
    case("the rules themselves may be read", "User-agent: *|Disallow: /", "+/robots.txt -/robots.html"),
]

GROUPS = [
    case("our name", "User-agent: Thresher|Disallow: /shed", "-/shed +/barn"),
    case("our name in any case", "User-agent: tHRESHER|Disallow: /shed", "-/shed +/barn"),
    case("our name with a version", "User-agent: Thresher/1.2|Disallow: /shed", "-/shed +/barn"),
    case("our name with words behind it", "User-agent: Thresher the crawler|Disallow: /shed", "-/shed +/barn"),
    case("a name that begins with ours", "User-agent: Thresherbot|Disallow: /", "+/ +/shed"),
    case("a name with ours and a dash", "User-agent: Thresher-Images|Disallow: /", "+/ +/shed"),
    case("a beginning of our name", "User-agent: Thresh|Disallow: /", "+/ +/shed"),
    case("an end of our name", "User-agent: esher|Disallow: /", "+/ +/shed"),
    case("somebody else's name", "User-agent: Reaper|Disallow: /", "+/ +/shed"),
    case("our own group beats that for all", "User-agent: *|Disallow: /|User-agent: Thresher|Allow: /", "+/ +/shed"),
    case(
        "our own group beats that for all in any order",
        "User-agent: Thresher|Disallow: /shed|User-agent: *|Disallow: /barn",
        "-/shed +/barn",
    ),
    case("an empty group of ours is ours", "User-agent: *|Disallow: /|User-agent: Thresher|Disallow:", "+/ +/shed"),
    case("our group at the end without a rule", "User-agent: *|Disallow: /|User-agent: Thresher", "+/ +/shed"),
    case(
        "several names share rules",
        "User-agent: Reaper|User-agent: Thresher|User-agent: Baler|Disallow: /shed",
        "-/shed +/barn",
    ),
    case("a rule ends the names", "User-agent: Thresher|Disallow: /a|User-agent: Baler|Disallow: /b", "-/a +/b"),
    case("an empty rule ends the names too", "User-agent: Thresher|Disallow:|User-agent: Baler|Disallow: /", "+/ +/b"),
    case(
        "groups of ours are one",
        "User-agent: Thresher|Disallow: /a|User-agent: *|Disallow: /x|User-agent: thresher|Disallow: /b",
        "-/a -/b +/x",
    ),
    case(
        "groups for all are one",
        "User-agent: *|Disallow: /a|User-agent: Baler|Allow: /|User-agent: *|Disallow: /b",
        "-/a -/b",
    ),
    case("all and we in one group", "User-agent: *|User-agent: Thresher|Disallow: /a", "-/a +/b"),
    case(
        "a sitemap between names",
        "User-agent: Thresher|Sitemap: http://x.example/s|User-agent: Baler|Disallow: /a",
        "-/a +/b",
    ),
    case("an unknown line between names", "User-agent: Thresher|Mood: good|User-agent: Baler|Disallow: /a", "-/a +/b"),
    case("a blank line does not end a group", "User-agent: Thresher||Disallow: /a", "-/a +/b"),
    case("a star with words behind it", "User-agent: * everybody|Disallow: /a", "-/a +/b"),
    case("a name without a value", "User-agent:|Disallow: /a", "+/a +/b"),
]

PATHS = [
    case("paths care about case", "User-agent: *|Disallow: /Shed", "-/Shed +/shed +/SHED"),
    case("the longest rule wins", "User-agent: *|Disallow: /a|Allow: /a/b|Disallow: /a/b/c", "-/a +/a/b -/a/b/c"),
    case("whatever the order", "User-agent: *|Disallow: /a/b/c|Allow: /a/b|Disallow: /a", "-/a +/a/b -/a/b/c"),
    case("allow wins a tie", "User-agent: *|Disallow: /a|Allow: /a", "+/a +/a/b"),
    case("allow wins an empty tie", "User-agent: *|Disallow: /|Allow: /", "+/ +/a"),
    case("one page of a closed site", "User-agent: *|Disallow: /|Allow: /$", "+/ -/a -/index"),
    case("a folder needs its slash", "User-agent: *|Disallow: /a/", "+/a -/a/ -/a/b"),
    case("a file name without its end", "User-agent: *|Disallow: /a.html", "-/a.html -/a.htmlx -/a.html?x=1 +/a"),
    case("queries are part of a path", "User-agent: *|Disallow: /a?b", "+/a -/a?b -/a?b=c +/a?c"),
    case("any query at all", "User-agent: *|Disallow: /*?", "+/a -/a? -/a?b -/?x"),
    case("a parameter anywhere", "User-agent: *|Disallow: /*&sort=", "+/a?sort=1 -/a?b=1&sort=2"),
    case("a fish", "User-agent: *|Disallow: /trout", "-/trout -/trout.html -/trouts/x +/Trout +/rivertrout +/?q=trout"),
    case(
        "a star at the end is nothing",
        "User-agent: *|Disallow: /trout*",
        "-/trout -/trout/x -/trouts +/Trout +/a/trout",
    ),
    case("an ending", "User-agent: *|Disallow: /*.php", "-/a.php -/f/a.php?x -/a.php.x -/a.phpx +/a.PHP +/php"),
    case("an ending, at the end", "User-agent: *|Disallow: /*.php$", "-/a.php -/f/a.php +/a.php?x +/a.php/ +/a.php5"),
    case(
        "a beginning and an ending", "User-agent: *|Disallow: /trout*.php", "-/trout.php -/trouts/c.php?x +/Trout.php"
    ),
    case("stars in a row", "User-agent: *|Disallow: /a**b***c", "-/abc -/a1b2c3 +/acb"),
    case("only a star", "User-agent: *|Disallow: *", "-/ -/a"),
    case("a star in front", "User-agent: *|Disallow: *.gif$", "-/a.gif -/b/a.gif +/a.gif?x"),
    case(
        "stars that match greedily and must not", "User-agent: *|Disallow: /*/x/*/y$", "-/1/x/2/y -/1/x/2/y/y +/1/x/y"
    ),
    case("a dollar not at the end is a letter", "User-agent: *|Disallow: /a$b", "-/a$b -/a$bc +/a +/ab"),
    case("a dollar and nothing else", "User-agent: *|Disallow: /$", "-/ +/a"),
    case("a page and its index", "User-agent: *|Disallow: /a/|Allow: /a/index.html", "+/a/index.html +/a/ -/a/b"),
    case("precedence by length, folder", "User-agent: *|Allow: /page|Disallow: /", "+/page +/pages -/other"),
    case("precedence by length, ending", "User-agent: *|Allow: /page|Disallow: /*.htm", "-/page.htm +/page"),
    case("precedence by length, root page", "User-agent: *|Allow: /$|Disallow: /", "+/ -/page.htm"),
    case("a wildcard as long as the word it allows", "User-agent: *|Disallow: /x/*|Allow: /x/p", "+/x/page -/x/q"),
    case("dots in a path are only dots", "User-agent: *|Disallow: /a.b", "-/a.b +/axb"),
    case("signs of regular expressions", "User-agent: *|Disallow: /(a+)[b]{2}", "-/(a+)[b]{2} +/aab"),
    case("a full address is no path", "User-agent: *|Disallow: http://farm.example/a", "+/a +/"),
]

ESCAPES = [
    case("letters beyond ASCII", "User-agent: *|Disallow: /räder", "-/r%C3%A4der -/r%c3%a4der/x +/rader"),
    case("the same, escaped", "User-agent: *|Disallow: /r%C3%A4der", "-/r%C3%A4der -/räder +/rader"),
    case("Chinese", "User-agent: *|Disallow: /太阳能", "-/%E5%A4%AA%E9%98%B3%E8%83%BD -/太阳能/1 +/太阳"),
    case("small letters in an escape", "User-agent: *|Disallow: /%e5%a4%aa", "-/%E5%A4%AA +/%E5%A4%AB"),
    case("an escaped slash is no slash", "User-agent: *|Disallow: /a%2Fb", "-/a%2Fb -/a%2fb +/a/b"),
    case("a slash is no escaped slash", "User-agent: *|Disallow: /a/b", "-/a/b +/a%2Fb"),
    case("a percent sign by itself", "User-agent: *|Disallow: /100%|Disallow: /b%zz", "-/100% -/b%zz +/10"),
    case(
        "an address in a query",
        "User-agent: *|Disallow: /go?u=http://x.example/a",
        "-/go?u=http://x.example/a +/go?u=x",
    ),
    case("lines that only Python sees", "User-agent: *|Disallow: /a\u2028Allow: /|Disallow: /b", "-/b +/c"),
]

DIFFERENCES = [
    case(
        "a delay between names",
        "User-agent: Thresher|Crawl-delay: 5|User-agent: Baler|Disallow: /a",
        "-/a +/b",
        "Protego lets a delay end the names of a group; RFC 9309 says other records must not interfere. As the RFC.",
    ),
    case(
        "a star in a name",
        "User-agent: Thresh*|Disallow: /a",
        "+/a",
        "Protego drops the star and takes the rest for a beginning; by RFC 9309 and Google's parser we are not meant.",
    ),
    case(
        "words behind the path",
        "User-agent: *|Disallow: /a b",
        "+/a -/a%20b",
        "Google's parser and Protego keep blanks inside a path, as we do; older ones stop at the blank.",
    ),
    case(
        "a path without its slash",
        "User-agent: *|Disallow: trout/",
        "+/trout/ +/a",
        "RFC 9309 wants a slash first; nothing begins with this in Google's parser and in Protego, so neither for us.",
    ),
    case(
        "words that only begin alike",
        "User-agent: *|Disallowance: /|Allowed: /|Foo: /",
        "+/ +/shed",
        "Google's parser takes a field that begins with a rule's name for that rule; RFC 9309 and Protego do not.",
    ),
    case(
        "an escape that was not needed",
        "User-agent: *|Disallow: /%61%62|Disallow: /%7Ejoe/a|Disallow: /~ann/",
        "-/ab +/%2561 -/~joe/a -/%7Ejoe/a -/%7eann/ +/joe",
        "Google's parser compares escapes as written; in RFC 9309 needless ones mean their letters, and for us.",
    ),
    case(
        "an escaped star or dollar is a letter",
        "User-agent: *|Disallow: /a%2Ab|Disallow: /c%24",
        "-/a*b -/a%2Ab +/axb -/c$ -/c%24d +/c",
        "As RFC 9309 says; Google's parser matches the escaped spelling of the URL only.",
    ),
]

CASES = [*LINES, *GROUPS, *PATHS, *ESCAPES, *DIFFERENCES]
