import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these words would not be found in their other forms as MongoDB finds them.
///
/// Source: the sample vocabularies of Snowball's pages on its stemming algorithms, and for the other
/// languages what Snowball's C library before version 2.0, as in MongoDB, returns for words that
/// reach each of its rules.
@Suite struct SnowballStemTests {
    private func decomposed(_ text: String) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: UnicodeDecomposition.scalars(text))
        return String(view)
    }

    private func check(_ vocabulary: String, _ stem: (String) -> String) {
        for pair in vocabulary.split(separator: " ") {
            let parts = pair.split(separator: "=").map(String.init)
            #expect(stem(parts[0]) == parts[1], "\(parts[0])")
            #expect(stem(decomposed(parts[0])) == parts[1], "\(parts[0]), decomposed")
        }
        for short in ["", "a", "é", "ß", "'", "''", "qu", "ii", "uuu", "~", "a~"] {
            _ = stem(short)
        }
    }

    @Test func `English words`() {
        check(
            """
            consign=consign consigned=consign consigning=consign consignment=consign \
            consistency=consist consistently=consist consolation=consol consolatory=consolatori \
            console=consol consolidating=consolid consolingly=consol consols=consol \
            conspicuously=conspicu conspiracy=conspiraci conspirators=conspir conspiring=conspir \
            constable=constabl constance=constanc constancy=constanc constant=constant \
            knackeries=knackeri knavish=knavish kneaded=knead kneel=kneel knees=knee knew=knew \
            knightly=knight knitted=knit knitting=knit knives=knive knocker=knocker \
            generate=generat generic=generic skies=sky dying=die news=news inning=inning \
            proceed=proceed hoping=hope hopping=hop ties=tie cries=cri gas=gas gaps=gap \
            kiwis=kiwi this=this by=by say=say cry=cri luxuriated=luxuri bed=bed shed=shed \
            john's=john arsenal=arsenal
            """, EnglishStemmer.stem(of:))
    }

    @Test func `German words`() {
        check(
            """
            aufeinander=aufeinand aufeinanderbiss=aufeinanderbiss \
            aufeinanderfolge=aufeinanderfolg aufeinanderfolgend=aufeinanderfolg \
            aufeinanderfolgenden=aufeinanderfolg aufeinanderfolgt=aufeinanderfolgt \
            aufeinanderschlügen=aufeinanderschlug aufenthalt=aufenthalt aufenthaltes=aufenthalt \
            auferlegen=auferleg auferlegt=auferlegt auferstanden=auferstand \
            auferstehen=aufersteh kategorie=kategori kategorisch=kategor kategorischen=kategor \
            kater=kat katers=kat kathedrale=kathedral katholik=kathol katholische=kathol \
            katze=katz kauerte=kauert käuflich=kauflich kaum=kaum kaufmann=kaufmann \
            straße=strass häuser=haus bedürfnisse=bedurfnis
            """, GermanStemmer.stem(of:))
    }

    @Test func `Spanish words`() {
        check(
            """
            cheque=chequ chequeo=cheque cheques=chequ chesca=chesc chetumaleños=chetumaleñ \
            cheyene=cheyen chía=chi chiapaneca=chiapanec chiapas=chiap chicas=chic \
            chicharrones=chicharron chichimecas=chichimec chicles=chicl torá=tor tórax=torax \
            torcer=torc toreado=tor toreados=tor toreándolo=tor torear=tor toreara=tor \
            torearlo=tor toreó=tore torero=torer torio=tori tormentas=torment tornado=torn \
            tornen=torn torneos=torne tornillo=tornill
            """, SpanishStemmer.stem(of:))
    }

    @Test func `Italian words`() {
        check(
            """
            abbandonata=abbandon abbandonerà=abbandon abbandoneranno=abbandon \
            abbaruffato=abbaruff abbassamento=abbass abbassando=abbass abbassandola=abbass \
            abbassar=abbass abbassarono=abbass abbassarsi=abbass abbassassero=abbass \
            abbassò=abbass abbastanza=abbast abbatté=abbatt abbattendo=abbatt abbattersi=abbatt \
            abbattesse=abbattess pronto=pront pronuncerà=pronunc pronuncia=pronunc \
            pronunciamento=pronunc pronunciarsi=pronunc pronunzia=pronunz propagare=propag \
            propagarla=propag propagasse=propag propagazione=propag propaghino=propaghin \
            propende=prop propensione=propension propio=prop
            """, ItalianStemmer.stem(of:))
    }

    @Test func `Portuguese words`() {
        check(
            """
            boa=boa boainain=boainain boas=boas boassu=boassu boataria=boat boate=boat \
            boatos=boat bob=bob bobagem=bobag bobagens=bobagens bobalhões=bobalhõ bobeira=bobeir \
            bobinho=bobinh bobo=bob bobs=bobs bocadas=boc bocadinho=bocadinh bocaiúva=bocaiúv \
            boçal=boçal bocarra=bocarr quilométricas=quilométr quilômetro=quilômetr quilos=quil \
            química=químic quimioterapia=quimioterap quimioterápicos=quimioteráp quinhão=quinhã \
            quinhentos=quinhent quintana=quintan quintanilha=quintanilh quintão=quintã \
            quintessência=quintessent quintuplicou=quintuplic quinze=quinz quiosque=quiosqu
            """, PortugueseStemmer.stem(of:))
    }

    @Test func `Danish words`() {
        check(
            """
            forpligtet=forp øst=øst stress=stres vigtigste=vigt fra=fra hans=han dét=dét \
            arbejdsløst=arbejdsløs virkeligheden=virk følelser=føl håndtere=hånd effekten=effek \
            mængdens=mæng vores=vor allerede=all ellers=ell spændende=spænd virksomheder=virksom \
            mulighed=mul moderne=mod børnene=børn anvendes=anv studerende=stud baseret=bas \
            landets=land fungerer=fung sommeren=som kvindernes=kvind virksomhedens=virksom \
            leveres=lev børnenes=børn sikkerheds=sikker forvalterens=forvalt \
            regimentets=regiment studerendes=stud ophidsethed=ophids uge22=uge2
            """, DanishStemmer.stem(of:))
    }

    @Test func `Dutch words`() {
        check(
            """
            bezuinigingen=bezuin grootte=grot omstandigheden=omstand boys=boy natuurlijke=natur \
            onvoldoende=onvoldo groeiende=groeiend betaalbare=betal één=een betrokkenheid=betrok \
            you=you beschikbaar=beschik https=https europese=europes ene=ene gemeenheden=gemen \
            coöperatie=cooperatie geïnteresseerd=geinteresseerd mogelijk=mogelijk \
            waarheid=waarheid blijkbaar=blijkbar algemene=algemen bar=bar heden=heden \
            bedreiging=bedreig onderscheid=onderscheid hadden=had nodig=nodig eigen=eig \
            eigendom=eigendom ère=èr lopend=lopend kleinere=kleiner sluiten=sluit maan=man \
            brandend=brandend huizen=huiz yoghurt=yoghurt groente=groent koningin=koningin \
            waarden=waard bakken=bak vriendelijke=vriendelijk reizen=reiz
            """, DutchStemmer.stem(of:))
    }

    @Test func `Finnish words`() {
        check(
            """
            pelaajien=pelaaj asiakkaat=asiak olisiko=oli aikaisemmin=aikais innoissani=ino \
            turhan=turhan toivottavasti=toivottav naimisiin=naimis tärkeää=tärkeä just=just \
            kirjoja=kirj vähintäänkin=vähin puhumattakaan=puhumat muistaakseni=muist \
            vanhin=vanhin varmasti=varmast you=you edelleenkään=ede vastaan=vas yleensä=yle \
            talohon=talo voitaisiin=voita tiesitkö=tiesi yhteistyöhön=yhteistyö tämän=tämä \
            yksi=yks yhden=yhd http=http kokonaan=koko mennään=men pelkästään=pelk \
            tavallaan=tava mielellään=miele osaltaan=osa nimeltään=nime itsessään=its \
            haltuunsa=haltu lontooseen=lonto kuvioineen=kuvio antamastamme=antam tilanne=tila \
            käyttöön=käytö talohin=talohin paikkaseen=paikkas suurempi=suuremp suurimman=suurim \
            kotoja=koto asiat=asia
            """, FinnishStemmer.stem(of:))
    }

    @Test func `Hungarian words`() {
        check(
            """
            héttel=hé energiával=energ örökké=ör egyaránt=egyar csokoládé=csokola \
            testület=testül iii=iii környékén=környe nak=nak problémái=probléma ruhákat=ruha \
            történt=tört oké=oke vel=vel dvd=dvd szánt=szán imre=im mára=má napjainkban=nap \
            működnek=működ pedig=ped nekem=nek azonnal=az sokan=sok alkalommal=alkal \
            nagyjából=nagy szoba=szo számot=szám fejében=fe egyikük=egy magaddal=mag \
            szabályairól=szabály kezünkbe=kez szüleitől=szüleitől magamhoz=mag akkor=ak \
            minden=min két=ké miért=mi nélkül=nél ezzel=ez vagyunk=vagy tűnt=tűnt szabókat=szabó \
            barátaik=barát nappal=nap késsé=kés
            """, HungarianStemmer.stem(of:))
    }

    @Test func `Norwegian words`() {
        check(
            """
            folks=folk aktivt=aktiv forskjellige=forskjel hans=han sikkert=sikker fra=fra \
            plass=plass nrk=nrk seks=seks mulighet=mul begynnelsen=begynn virkeligheten=virk \
            kollega=kol forlovet=for arbeidslov=arbeid kjøttdeig=kjøttd rundt=rund finnes=finn \
            allerede=aller ellers=ell spennende=spenn pengene=peng ansvar=ansv annerledes=annerl \
            muligheter=mul thomas=thom landets=land myndighetene=mynd etablerte=etabler \
            tidenes=tid jernbane=jernb terningkast=terningk trygghetens=trygg demande=dem \
            oppdaget=oppdag jevnt=jevnt
            """, NorwegianStemmer.stem(of:))
    }

    @Test func `Romanian words`() {
        check(
            """
            dimensiunile=dimensiun încheierea=închei producătorii=produc iulia=iuli iei=iei \
            teritoriul=terit operaţie=oper într=într dvs=dvs infracţiune=infract \
            viitoare=viitoar activităţilor=activ posibilitatea=posibil medicale=medic \
            comunismului=comunist armatei=armat favorabile=favor anul=an fezabilitate=fezabil \
            piesele=pie datoriile=dator există=exist frumoase=frumoas asociaţia=asoc datelor=dat \
            serviciilor=servic creator=creator abilităţi=abil putea=put avut=avut orice=oric \
            bucureşti=bucur numai=numa dată=dat trebui=treb data=dat acelaşi=acel suntem=sunt \
            împotriva=împotr jos=jos site=sit puteţi=put frumuseţea=frumuseţ nouă=nou aer=aer \
            cântând=cânt lucrează=lucr naţionalism=naţionalist abil=abil
            """, RomanianStemmer.stem(of:))
    }

    @Test func `Russian words`() {
        check(
            """
            численность=числен общая=общ прав=прав остаётся=остаёт дальнейшем=дальн состав=соста \
            полностью=полност компанией=компан иностранных=иностра следующий=след против=прот \
            свои=сво ссср=ссср совершеннейший=совершен пришлось=пришл она=он мой=мо должны=должн \
            сайте=сайт бывшего=бывш системой=систем имеющих=имеющ родившимся=род прибывшими=приб \
            был=был если=есл меня=мен была=был этом=эт россии=росс можно=можн этого=эт более=бол \
            году=год которые=котор который=котор один=один почему=поч потому=пот именно=имен \
            такое=так должен=долж новейший=нов прочитавши=прочита ёлках=ёлках книгами=книг \
            гость=гост умываясь=умыв бегущего=бегущ интереснейше=интересн мышь=мыш
            """, RussianStemmer.stem(of:))
    }

    @Test func `Swedish words`() {
        check(
            """
            byggts=bygg aldrig=aldr meningslöst=meningslös verkligen=verk ska=ska precis=precis \
            svt=svt tänkte=tänk fortsätta=fortsät försvinner=försvin byggdes=bygg våldtar=våld \
            händelserna=händ patentskyddad=patentskyd annat=ann människor=människ deras=der \
            fortfarande=fortfar tidigare=tid senaste=sen började=börj endast=end dagens=dag \
            pengarna=peng möjlighet=möj närheten=när sommaren=somm lyckades=lyck \
            rättigheter=rätt modern=mod människorna=människ förhållanden=förhåll \
            myndigheterna=mynd utlandet=utl vänsterns=vänst moderaternas=moderat \
            svenskarnas=svensk sommarens=somm gåvornas=gåv gungandes=gung enhetens=enhet \
            flickorna=flick flickor=flick hjälpfullt=hjälpfull
            """, SwedishStemmer.stem(of:))
    }

    @Test func `Turkish words`() {
        check(
            """
            üzgünüm=üzgü altındadır=alt dediniz=dedi adındaki=ad önden=ön olduğunca=olduk \
            öncesine=önce onlar=on etkilerini=etki kadınların=kadı gibiydi=gip bugünden=bugu \
            insan=in binlerce=bin yıllardır=yıl bunlardan=bun dinle=t çocuklarımız=çocuk \
            rusya=rusya arkadaşlarıyla=arkadaş çalışmalarına=çalışma olmuşsun=ol bölgedeki=bölge \
            tersine=ters gücünü=güç haklısınız=haklı ileri=i gereken=gereke beynin=beyn \
            oldunuz=ol yalnızca=yalnız bir=bir özgün=özgü hollywood=hollywoodu \
            başlamıştır=başlamış ise=is gelmiş=gel teslim=tesl ettiler=et gündüz=gündüz müze=müz \
            olayım=ol sadece=sadeç insanlar=in erken=er mutluğumuzdur=mutluk evisindir=evis \
            küçüğümdür=küçük doktorduk=doktor aksidirler=aksi cirmimce=cirm ucundakilerin=uç \
            doktoruymuşsunuz=doktor kitapları=kitap evdekilerinkinden=evdekilerink ad=ad \
            soyad=soyad arabanınki=araba evlerdekiler=evlerdeki kedim=kedi
            """, TurkishStemmer.stem(of:))
    }

    @Test func `a word of very many Turkish suffixes does not exhaust the stack`() {
        let word = "ara" + String(repeating: "ninki", count: 20_000)
        #expect(TurkishStemmer.stem(of: word).hasPrefix("araninki"))
    }

    @Test func `words without meaning are left out, and marks count before they are taken away`() {
        let folding = TextTokenizer()
        #expect(folding.stems("Die Häuser, und das Haus", in: "german") == ["haus", "haus"])
        #expect(folding.stems("los toreros también", in: "spanish") == ["torer"])
        #expect(folding.stems("dell'amico perché", in: "italian") == ["amic"])
        #expect(folding.stems("às químicas", in: "portuguese") == ["quimic"])
        #expect(folding.stems("It's John's résumé", in: "english") == ["john", "resume"])
    }
}
