import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these words would not be found in their other forms as MongoDB finds them.
///
/// Source: the sample vocabularies of Snowball's pages on its stemming algorithms.
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

    @Test func `words without meaning are left out, and marks count before they are taken away`() {
        let folding = TextTokenizer()
        #expect(folding.stems("Die Häuser, und das Haus", in: "german") == ["haus", "haus"])
        #expect(folding.stems("los toreros también", in: "spanish") == ["torer"])
        #expect(folding.stems("dell'amico perché", in: "italian") == ["amic"])
        #expect(folding.stems("às químicas", in: "portuguese") == ["quimic"])
        #expect(folding.stems("It's John's résumé", in: "english") == ["john", "resume"])
    }
}
