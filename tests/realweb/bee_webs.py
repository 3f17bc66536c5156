"""Small webs about beekeeping in ten languages: six subjects on the topic and six off it, in sentences of our own."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

ON_PAGES, OFF_PAGES = 12, 24


@dataclass(frozen=True)
class BeeWeb:
    """The topic and the sentences of one language, one per line; an empty line separates subjects."""

    phrase: str
    on: str
    off: str

    def pages(self, language: str) -> dict[str, str]:
        """Return the pages by path; the first one links to all others."""
        on, off = ([part.split("\n") for part in text.strip().split("\n\n")] for text in (self.on, self.off))
        texts = {f"/on{number}": _mixed(on, number) for number in range(ON_PAGES)}
        texts |= {f"/off{number}": _mixed(off, number) for number in range(OFF_PAGES)}
        order = list(texts)
        Random(3).shuffle(order)
        links = "".join(f'<li><a href="{path}">{texts[path][0][:40]}</a></li>' for path in order)
        pages = {path: _page(language, sentences) for path, sentences in texts.items()}
        return {"/": _page(language, [self.phrase, *(lines[0] for lines in on)], f"<ul>{links}</ul>"), **pages}


def _mixed(subjects: list[list[str]], number: int) -> list[str]:
    """Return the sentences of a page: all of its subject in some order, and some of the subjects after it."""
    random, place = Random(number), number % len(subjects)
    own = random.sample(subjects[place], len(subjects[place]))
    others = [random.choice(subjects[(place + step + number // 6) % len(subjects)]) for step in (1, 2, 3, 4, 5)]
    return [*own, *others]


def _page(language: str, sentences: list[str], more: str = "") -> str:
    title, body = sentences[0], "".join(f"<p>{sentence}</p>" for sentence in sentences)
    head = f'<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title></head>'
    return f"<!DOCTYPE html>{head}<body><h1>{title}</h1>{body}{more}</body></html>"


WEBS = {
    "de": BeeWeb(
        "Bienen und Imkerei",
        """
Im Bienenstock lebt ein Volk mit vielen tausend Bienen.
Die Bienen bauen aus Wachs ihre Waben im Stock.
Der Imker öffnet den Bienenstock an warmen Tagen.

Die Königin legt im Sommer jeden Tag viele Eier.
Ohne eine Königin können die Bienen nicht lange leben.
In der Imkerei bekommt die Königin der Bienen einen farbigen Punkt.

Den Honig schleudert der Imker aus den vollen Waben.
Honig aus dem Wald schmeckt dunkel und kräftig.
Eine gute Imkerei füllt den Honig bald in Gläser ab.

Die Varroamilbe schwächt die Bienen und ihre Brut.
Gegen die Milbe behandelt der Imker seine Völker im Herbst.
Kranke Bienen können oft nicht mehr fliegen.

Bienen bestäuben die Blüten der Obstbäume im Frühling.
Ohne Bienen gäbe es in der Imkerei keinen Honig und im Garten kaum Äpfel.
Auf einer Wiese finden die Bienen Nektar und Pollen.

Ein Schwarm verlässt mit der alten Königin den Stock.
Der Imker fängt den Bienenschwarm in einer Kiste ein.
Im Mai beginnt in der Imkerei die Zeit der Schwärme.
""",
        """
Der Kuchen wird mit Butter und Zucker im Ofen gebacken.
Für den Teig braucht man Mehl und drei Eier.

Die Mannschaft gewann das Spiel durch ein spätes Tor.
Der Trainer lobte nach dem Spiel seine Stürmer.

Das Parlament beschloss ein Gesetz über die Renten.
Die Bürger zahlen im nächsten Jahr höhere Steuern.

Der Zug nach Hamburg fährt heute von Gleis sieben ab.
Wegen einer Baustelle kommen die Züge später an.

Der Weg zum Gipfel führt über einen steilen Grat.
Die Wanderer übernachten in einer Hütte am Berg.

Der neue Rechner hat einen schnellen Prozessor.
Das Programm speichert die Daten auf der Festplatte.
""",
    ),
    "fr": BeeWeb(
        "abeilles et apiculture",
        """
Dans la ruche vivent des milliers d'abeilles avec leur reine.
Les abeilles construisent les rayons de cire de la ruche.
L'apiculteur ouvre sa ruche quand le soleil est chaud.

La reine pond chaque jour de nombreux œufs en été.
Une colonie d'abeilles sans reine ne survit pas longtemps.
L'apiculteur marque la reine avec un point de couleur.

L'apiculteur récolte le miel des rayons à la fin de l'été.
Le miel de châtaignier a un goût fort et une couleur sombre.
En apiculture, le miel est mis en pots après la récolte.

Le varroa affaiblit les abeilles et leur couvain.
L'apiculteur traite ses colonies contre le varroa en automne.
Une abeille malade ne peut souvent plus voler.

Les abeilles pollinisent les fleurs des arbres fruitiers.
Sans abeilles, il n'y aurait ni apiculture ni beaucoup de fruits.
L'abeille trouve le nectar et le pollen dans les prairies.

Un essaim quitte la ruche avec la vieille reine.
L'apiculteur recueille l'essaim d'abeilles dans une caisse.
Le mois de mai est la saison des essaims en apiculture.
""",
        """
Le gâteau est préparé avec du beurre puis cuit au four.
Pour la pâte, il faut de la farine et trois œufs.

L'équipe a gagné le match grâce à un but tardif.
L'entraîneur a félicité ses attaquants après le match.

Le parlement a voté une loi sur les retraites.
Les citoyens paieront plus d'impôts l'année prochaine.

Le train pour Lyon part aujourd'hui de la voie sept.
À cause des travaux, les trains arrivent en retard.

Le chemin du sommet passe par une crête étroite.
Les randonneurs dorment dans un refuge de montagne.

Le nouvel ordinateur possède un processeur rapide.
Le logiciel enregistre les données sur le disque.
""",
    ),
    "es": BeeWeb(
        "abejas y apicultura",
        """
En la colmena viven miles de abejas con su reina.
Las abejas construyen los panales de cera de la colmena.
El apicultor abre la colmena en los días cálidos.

La reina pone muchos huevos cada día durante el verano.
Una colonia de abejas sin reina no vive mucho tiempo.
El apicultor marca a la reina con un punto de color.

El apicultor saca la miel de los panales al final del verano.
La miel de bosque tiene un color oscuro y un sabor fuerte.
En la apicultura la miel se envasa después de la cosecha.

La varroa debilita a las abejas y a sus crías.
El apicultor trata sus colmenas contra la varroa en otoño.
Una abeja enferma muchas veces ya no puede volar.

Las abejas polinizan las flores de los árboles frutales.
Sin abejas no habría apicultura ni tanta fruta en el huerto.
La abeja encuentra néctar y polen en los prados.

Un enjambre sale de la colmena con la reina vieja.
El apicultor recoge el enjambre de abejas en una caja.
En mayo empieza en la apicultura la época de los enjambres.
""",
        """
El pastel se prepara con mantequilla y se hornea despacio.
Para la masa hacen falta harina y tres huevos.

El equipo ganó el partido con un gol en el último minuto.
El entrenador felicitó a sus delanteros en el estadio.

El parlamento aprobó una ley sobre las pensiones.
Los ciudadanos pagarán más impuestos el año próximo.

El tren a Sevilla sale hoy de la vía siete.
Por culpa de las obras los trenes llegan tarde.

El camino a la cumbre pasa por una cresta estrecha.
Los montañeros duermen en un refugio junto al lago.

El ordenador nuevo tiene un procesador muy rápido.
El programa guarda los datos en el disco duro.
""",
    ),
    "pt": BeeWeb(
        "abelhas e apicultura",
        """
Na colmeia vivem milhares de abelhas com a sua rainha.
As abelhas constroem os favos de cera da colmeia.
O apicultor abre a colmeia nos dias quentes.

A rainha põe muitos ovos por dia durante o verão.
Uma colônia de abelhas sem rainha não vive muito tempo.
O apicultor marca a rainha com um ponto de cor.

O apicultor retira o mel dos favos no fim do verão.
O mel da floresta tem cor escura e sabor forte.
Na apicultura o mel é posto em frascos depois da colheita.

O ácaro varroa enfraquece as abelhas e as suas crias.
O apicultor trata as colmeias contra o ácaro no outono.
Uma abelha doente muitas vezes já não consegue voar.

As abelhas polinizam as flores das árvores de fruto.
Sem abelhas não haveria apicultura nem tanta fruta no pomar.
A abelha encontra néctar e pólen nos campos.

Um enxame sai da colmeia com a rainha velha.
O apicultor recolhe o enxame de abelhas numa caixa.
Em maio começa na apicultura a época dos enxames.
""",
        """
O bolo é preparado com manteiga e assado no forno.
Para a massa são precisos farinha e três ovos.

A equipe venceu o jogo com um gol no último minuto.
O treinador elogiou os seus atacantes no estádio.

O parlamento aprovou uma lei sobre as aposentadorias.
Os cidadãos vão pagar mais impostos no próximo ano.

O trem para Coimbra sai hoje da linha sete.
Por causa das obras os trens chegam atrasados.

O caminho para o cume passa por uma crista estreita.
Os caminhantes dormem num abrigo da montanha.

O novo computador tem um processador muito rápido.
O programa guarda os dados no disco rígido.
""",
    ),
    "it": BeeWeb(
        "api e apicoltura",
        """
Nell'alveare vivono migliaia di api con la loro regina.
Le api costruiscono i favi di cera nell'alveare.
L'apicoltore apre l'alveare nelle giornate calde.

La regina depone molte uova ogni giorno durante l'estate.
Una famiglia di api senza regina non vive a lungo.
L'apicoltore segna la regina con un punto colorato.

L'apicoltore estrae il miele dai favi alla fine dell'estate.
Il miele di castagno ha un colore scuro e un gusto forte.
In apicoltura il miele si mette nei vasetti dopo il raccolto.

La varroa indebolisce le api e la loro covata.
In apicoltura si curano le api contro la varroa in autunno.
Le api malate spesso non riescono più a volare.

Le api impollinano i fiori degli alberi da frutto.
Senza le api non ci sarebbero apicoltura e miele per nessuno.
L'ape trova nettare e polline nei prati fioriti.

Uno sciame lascia l'alveare con la vecchia regina.
L'apicoltore raccoglie lo sciame di api in una cassa.
A maggio comincia in apicoltura la stagione degli sciami.
""",
        """
La torta si prepara con il burro e si cuoce nel forno.
Per l'impasto servono farina e tre uova.

La squadra ha vinto la partita con un gol nel finale.
L'allenatore ha lodato i suoi attaccanti allo stadio.

Il parlamento ha approvato una legge sulle pensioni.
I cittadini pagheranno più tasse nel prossimo anno.

Il treno per Bologna parte oggi dal binario sette.
A causa dei lavori i treni arrivano in ritardo.

Il sentiero per la cima passa su una cresta stretta.
Gli escursionisti dormono in un rifugio di montagna.

Il nuovo computer ha un processore molto veloce.
Il programma salva i dati sul disco fisso.
""",
    ),
    "ru": BeeWeb(
        "пчёлы и пчеловодство",
        """
В улье живёт семья из многих тысяч пчёл.
Пчёлы строят в улье соты из воска.
Пчеловод открывает улей в тёплые дни.

Пчелиная матка летом каждый день откладывает много яиц.
Без матки пчелиная семья долго не живёт.
Пчеловод отмечает матку цветной точкой.

Пчеловод откачивает мёд из сот в конце лета.
Лесной мёд имеет тёмный цвет и сильный вкус.
В пчеловодстве мёд после сбора разливают по банкам.

Клещ варроа ослабляет пчёл и их расплод.
Осенью пчеловод лечит пчелиные семьи от клеща.
Больная пчела часто уже не может летать.

Пчёлы опыляют цветы плодовых деревьев.
Без пчёл не было бы ни пчеловодства, ни яблок в саду.
На лугу пчела находит нектар и пыльцу.

Рой пчёл покидает улей вместе со старой маткой.
Пчеловод собирает пчелиный рой в ящик.
В мае в пчеловодстве начинается время роения.
""",
        """
Пирог готовят с маслом и сахаром и пекут в духовке.
Для теста нужны мука и три яйца.

Команда выиграла матч благодаря позднему голу.
Тренер похвалил нападающих после игры на стадионе.

Парламент принял закон о пенсиях для граждан.
В следующем году граждане заплатят больше налогов.

Поезд в Казань отправляется сегодня с седьмого пути.
Из-за ремонта дороги поезда приходят позже.

Тропа к вершине горы идёт по узкому гребню.
Туристы ночуют в хижине у горного озера.

Новый компьютер имеет быстрый процессор.
Программа сохраняет данные на жёстком диске.
""",
    ),
    "ja": BeeWeb(
        "ミツバチと養蜂",
        """
巣箱の中には何千匹ものミツバチが暮らしている。
ミツバチは蜜蝋で六角形の巣を作る。
養蜂家は暖かい日に巣箱を開けて調べる。

女王蜂は夏の間、毎日たくさんの卵を産む。
女王蜂がいないミツバチの群れは長く生きられない。
養蜂家は女王蜂に色の印を付ける。

養蜂家は夏の終わりに巣から蜂蜜を搾る。
森の蜂蜜は色が濃く、味も強い。
養蜂では採れた蜂蜜をすぐに瓶に詰める。

ダニはミツバチの成虫と幼虫を弱らせる。
養蜂家は秋にダニからミツバチの群れを守る。
病気のミツバチは飛べなくなることが多い。

ミツバチは果樹の花の受粉を助けている。
ミツバチがいなければ養蜂も果物の収穫も成り立たない。
ミツバチは野原で花の蜜と花粉を集める。

分蜂では古い女王蜂が群れを連れて巣箱を出る。
養蜂家は分蜂したミツバチを箱に集める。
養蜂では五月が分蜂の季節である。
""",
        """
ケーキはバターと砂糖を混ぜてオーブンで焼く。
生地には小麦粉と卵を三個使う。

チームは試合の終盤にゴールを決めて勝った。
監督は競技場で選手たちをほめた。

国会は年金に関する新しい法律を可決した。
来年から市民の税金が高くなる予定だ。

大阪行きの列車は今日七番線から出発する。
工事のため列車の到着が遅れている。

山頂への道は狭い尾根の上を通っている。
登山者は湖の近くの山小屋に泊まる。

新しいパソコンは処理速度がとても速い。
プログラムはデータをディスクに保存する。
""",
    ),
    "ko": BeeWeb(
        "꿀벌과 양봉",
        """
벌통 안에는 수천 마리의 꿀벌이 함께 산다.
꿀벌은 밀랍으로 벌집을 짓는다.
양봉가는 따뜻한 날에 벌통을 열어 본다.

여왕벌은 여름 동안 매일 많은 알을 낳는다.
여왕벌이 없는 꿀벌 무리는 오래 살지 못한다.
양봉가는 여왕벌에게 색깔로 표시를 한다.

양봉가는 여름이 끝날 때 벌집에서 꿀을 딴다.
숲에서 나온 벌꿀은 색이 진하고 맛이 강하다.
양봉에서는 딴 꿀을 곧바로 병에 담는다.

진드기는 꿀벌과 애벌레를 약하게 만든다.
양봉가는 가을에 진드기로부터 꿀벌을 지킨다.
병든 꿀벌은 더 이상 날지 못하는 일이 많다.

꿀벌은 과일나무 꽃의 수분을 돕는다.
꿀벌이 없으면 양봉도 없고 과일도 줄어든다.
꿀벌은 들판에서 꽃꿀과 꽃가루를 모은다.

분봉할 때 늙은 여왕벌이 벌통을 떠난다.
양봉가는 분봉한 꿀벌을 상자에 모은다.
오월은 양봉에서 분봉의 계절이다.
""",
        """
케이크는 버터와 설탕을 섞어 오븐에서 굽는다.
반죽에는 밀가루와 달걀 세 개가 필요하다.

우리 팀은 경기 막판에 골을 넣어 이겼다.
감독은 경기장에서 공격수들을 칭찬했다.

국회는 연금에 관한 새 법률을 통과시켰다.
내년부터 시민들이 내는 세금이 오른다.

부산행 기차는 오늘 칠 번 선로에서 출발한다.
공사 때문에 기차가 늦게 도착하고 있다.

정상으로 가는 길은 좁은 능선을 지나간다.
등산객들은 호수 옆 산장에서 잠을 잔다.

새 컴퓨터는 처리 장치의 속도가 매우 빠르다.
프로그램은 자료를 디스크에 저장한다.
""",
    ),
    "ar": BeeWeb(
        "النحل وتربية النحل",
        """
تعيش في الخلية آلاف من النحل مع ملكتها.
يبني النحل أقراص الشمع داخل الخلية.
يفتح النحال الخلية في الأيام الدافئة.

تضع ملكة النحل بيضا كثيرا كل يوم في الصيف.
لا تعيش طائفة النحل طويلا من دون ملكة.
يضع النحال علامة ملونة على الملكة.

يستخرج النحال العسل من الأقراص في نهاية الصيف.
عسل الغابة لونه داكن وطعمه قوي.
في تربية النحل يعبأ العسل في أوعية زجاجية.

يضعف طفيل الفاروا النحل والحضنة في الخلية.
يعالج النحال خلايا النحل من الطفيل في الخريف.
النحلة المريضة لا تستطيع الطيران غالبا.

يلقح النحل أزهار الأشجار المثمرة في الربيع.
من دون النحل لا توجد تربية للنحل ولا ثمار كثيرة.
تجمع النحلة الرحيق وحبوب اللقاح من الحقول.

يغادر طرد النحل الخلية مع الملكة القديمة.
يجمع النحال طرد النحل في صندوق خشبي.
يبدأ موسم طرود النحل في تربية النحل في مايو.
""",
        """
تحضر الكعكة بالزبدة والسكر ثم تخبز في الفرن.
تحتاج العجينة إلى الدقيق وثلاث بيضات.

فاز الفريق بالمباراة بهدف في الدقيقة الأخيرة.
أثنى المدرب على لاعبي الهجوم في الملعب.

أقر البرلمان قانونا جديدا حول المعاشات.
سيدفع المواطنون ضرائب أكثر في العام القادم.

يغادر القطار إلى الإسكندرية اليوم من الرصيف السابع.
تتأخر القطارات بسبب أعمال الصيانة.

يمر الطريق إلى القمة فوق حافة ضيقة.
ينام المتسلقون في كوخ قرب البحيرة.

يملك الحاسوب الجديد معالجا سريعا جدا.
يحفظ البرنامج البيانات على القرص الصلب.
""",
    ),
    "pl": BeeWeb(
        "pszczoły i pszczelarstwo",
        """
W ulu żyje wiele tysięcy pszczół razem z matką.
Pszczoły budują w ulu plastry z wosku.
Pszczelarz otwiera ul w ciepłe dni.

Matka pszczela składa latem codziennie bardzo dużo jaj.
Rodzina pszczela bez matki nie żyje długo.
Pszczelarz oznacza matkę kolorową kropką.

Pszczelarz odbiera miód z plastrów pod koniec lata.
Miód leśny ma ciemny kolor i mocny smak.
W pszczelarstwie miód po zbiorze trafia do słoików.

Roztocz warroza osłabia pszczoły i ich czerw.
Jesienią pszczelarz leczy rodziny pszczele z warrozy.
Chora pszczoła często nie może już latać.

Pszczoły zapylają kwiaty drzew owocowych.
Bez pszczół nie byłoby pszczelarstwa ani jabłek w sadzie.
Na łące pszczoła znajduje nektar i pyłek.

Rój pszczół opuszcza ul ze starą matką.
Pszczelarz zbiera rój pszczeli do skrzynki.
W maju zaczyna się w pszczelarstwie czas rojenia.
""",
        """
Ciasto robi się z masłem i cukrem, a potem piecze.
Do ciasta potrzebne są mąka oraz trzy jajka.

Drużyna wygrała mecz dzięki późnej bramce.
Trener pochwalił napastników po meczu na stadionie.

Parlament przyjął ustawę o emeryturach.
W przyszłym roku obywatele zapłacą wyższe podatki.

Pociąg do Krakowa odjeżdża dziś z toru siódmego.
Z powodu remontu pociągi przyjeżdżają później.

Droga na szczyt prowadzi przez wąską grań.
Turyści nocują w schronisku nad jeziorem.

Nowy komputer ma bardzo szybki procesor.
Program zapisuje dane na twardym dysku.
""",
    ),
}
