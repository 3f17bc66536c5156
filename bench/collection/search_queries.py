"""Written questions with known answers in the archipelago; an answer is the end of an address, or several that will do.

They were written from titles before anything was searched, in the words of somebody who does not know the title.
"""

from __future__ import annotations

ENGLISH = {
    "how plants make sugar from sunlight and carbon dioxide": ("/Photosynthesis.htm",),
    "largest planet of the solar system with the great red spot": ("/Jupiter.htm",),
    "hereditary brain disease chorea": ("/Huntington%2527s_disease.htm",),
    "author of the Divine Comedy": ("/Dante_Alighieri.htm", "/The_Divine_Comedy.htm"),
    "solvent in nail polish remover": ("/Acetone.htm",),
    "handheld console with two screens": ("/Nintendo_DS.htm",),
    "building where the British parliament meets in London": ("/Palace_of_Westminster.htm",),
    "explorer who searched for El Dorado and was executed": ("/Walter_Raleigh.htm",),
    "vegetable grown for its root, related to celery": ("/Celeriac.htm",),
    "capital city of Alberta, Canada": ("/Edmonton.htm",),
    "fish oil fatty acids heart health": ("/Omega-3_fatty_acid.htm",),
    "swelling caused by fluid in tissues": ("/Edema.htm",),
    "metal used for electrical wiring and coins": ("/Copper.htm",),
    "mind and body are separate substances": ("/Dualism_%2528philosophy_of_mind%2529.htm",),
    "Polish trade union Lech Wałęsa": ("/History_of_Solidarity.htm", "/Solidarity.htm"),
    "railway up the highest mountain of the Isle of Man": ("/Snaefell_Mountain_Railway.htm",),
    "New Zealand parakeet": ("/Kakariki.htm",),
    "Caribbean island nation Castries": ("/Saint_Lucia.htm",),
    "cartoon duck in a sailor suit": ("/Donald_Duck.htm",),
    '"continental drift" moving plates': ("/Plate_tectonics.htm", "/Continental_drift.htm"),
}
CHINESE = {
    "运算符 优先级": ("/Operators/Operator_precedence", "Operator_Precedence"),
    "迭代器和生成器": ("/Guide/Iterators_and_generators",),
    "浏览器 指纹识别 追踪用户": ("/Glossary/Fingerprinting",),
    "什么是缓冲区": ("/Glossary/Buffer",),
    "用计数器给标题编号": ("/Counter_styles/Using_counters",),
    "GLSL 着色器 顶点": ("/GLSL_Shaders",),
    "包含块 百分比 尺寸": ("/Display/Containing_block",),
    "不支持脚本时显示的内容": ("/Elements/noscript", "tag_noscript.asp", "tag-noscript.html"),
    "严格相等 类型转换": ("/Operators/Strict_equality", "/Equality_comparisons_and_sameness"),
    "电池 充电状态 改变": ("/BatteryManager/chargingchange_event", "/BatteryManager/charging"),
    "顶级域名": ("/Glossary/TLD", "/Glossary/Top-level_domain"),
    "甲骨文 书法 朱彦民": ("/030066408.shtml",),
    "图书馆 入馆指南": ("lib.nankai.edu.cn/rgzn_30005/list.htm",),
    "叶嘉莹 古典诗歌 翻译": ("/030066399.shtml",),
    "南开读书节 开幕": ("/030055598.shtml",),
    "招聘会信息 就业指导中心": ("career.nankai.edu.cn/recruitment/index2.html",),
    "新汉学计划 奖学金": ("sie.nankai.edu.cn/jxj/xhxjh.htm",),
    "土地 税收 政策": ("/tdzc/tdsszc.htm",),
    "在自己的电脑上运行 ASP": ("asp-install.html", "asp_install.asp"),
    "文学院 艺术设计系 毕业设计 作品展": ("/030067181.shtml",),
}
