"""Written questions about the collection that `bench.collection.killed` leaves: computer programming, in both
languages.

They were written from titles of its relevant pages before anything was searched there. An answer is the end of an
address, or several that will do. Which pages a crawl takes depends on kills and timing: an answer may be missing.
"""

from __future__ import annotations

ENGLISH = {
    "reading the source code of the Nachos operating system": ("/NACHOS/reading-code.html",),
    "plan of a seminar on teaching computer science": ("/c599/semplanf95.html",),
    "natural language processing course at Harvard": ("/cs287r/cs287r.html",),
    "CSE 370 old quizzes and exams": ("/370/CurrentQtr/exams/",),
    "how programming languages are implemented, Dartmouth": ("/courseguide/undergrad/cs_48.html",),
    "Gelernter's course on parallel programming": ("/homes/gelernter/424a.html",),
    "virtual environments seminar, fall 1994": ("/cs297/f94/cs297-homepage.html",),
    "seminar on image and video computing": ("/cs835-95/Home.html",),
    "publications of the experimental software engineering group": ("/basili/papers.html",),
    "information on the final examination of CSE 373": ("/373/96a/final-exam-info.html",),
    "required readings for CS414 at Cornell": ("/CS414/readings.html",),
    "RFC on the helminthiasis of the Internet": ("/handouts/rfc1135",),
    "web server statistics of computer science at Virginia": ("/statbot/statbot.html",),
    "Jim Vallino, Rochester": ("/u/vallino/",),
    "intelligent software group": ("www.isg.sfu.ca/",),
    "22c:19 solutions problem set 5": ("/c19-html/ps5/ps5.html",),
    "Rutgers 211 syllabus Murdocca": ("/~murdocca/211syllabus.html",),
    "hurricane that struck Florida in August 1992": ("/Hurricane_Andrew.htm",),
    "Atlantic storms of 2003": ("/2003_Atlantic_hurricane_season.htm",),
    "presiding officer of the House of Representatives": (
        "/Speaker_of_the_United_States_House_of_Representatives.htm",
    ),
}
CHINESE = {
    "队头阻塞 数据包": ("/Glossary/Head_of_line_blocking",),
    "制表符 宽度 空格": ("/Properties/tab-size",),
    "用户代理 标识浏览器": ("/Glossary/User_agent",),
    "学习异步编程": ("/Extensions/Async_JS",),
    "按类名选择元素": ("/Selectors/Class_selectors",),
    "显示一段行内代码": ("/Elements/code",),
    "网址里的字符编码": ("/html_urlencode.asp",),
    "输入光标的颜色": ("/Properties/caret-color",),
    "图像缩放算法": ("/Properties/image-rendering",),
    "什么是 CSS 对象模型": ("/Glossary/CSSOM",),
    "计算机科学与技术系 南开": ("cc.nankai.edu.cn/13280/list.htm",),
    "院长信箱": ("cc.nankai.edu.cn/13301/list.htm",),
    "计算机学院 博士生导师": ("cc.nankai.edu.cn/bssds/list.htm",),
    "元素后面的模糊滤镜": ("/Properties/backdrop-filter",),
    "XSLT 导入样式表": ("/xsl/el_import.asp",),
    "XHTML 简介": ("/html/html_xhtml.asp",),
    "MathML 表格 入门": ("/For_beginners/Tables",),
    "表格边框合并": ("/Properties/border-collapse",),
    "样式表的字符集声明": ("/At-rules/%40charset",),
    "用脚本操作 DOM 入门": ("/Scripting/DOM_scripting",),
}
