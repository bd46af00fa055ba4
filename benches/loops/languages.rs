//! Documents in several languages and scripts: the words of a text in random order, or pairs of characters where it has no spaces.

use neardups::hash::mix;

/// Article 1 and the beginning of article 2 of the Universal Declaration of Human Rights (United Nations, 1948).
pub const LANGUAGES: &[(&str, &str)] = &[
    (
        "English",
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act \
         towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and freedoms set forth in this Declaration, \
         without distinction of any kind, such as race, colour, sex, language, religion, political or other opinion.",
    ),
    (
        "French",
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir \
         les uns envers les autres dans un esprit de fraternité. Chacun peut se prévaloir de tous les droits et de toutes les libertés \
         proclamés dans la présente Déclaration, sans distinction aucune, notamment de race, de couleur, de sexe, de langue, d'opinion.",
    ),
    (
        "German",
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im \
         Geiste der Brüderlichkeit begegnen. Jeder hat Anspruch auf alle in dieser Erklärung verkündeten Rechte und Freiheiten, ohne \
         irgendeinen Unterschied, etwa nach Rasse, Hautfarbe, Geschlecht, Sprache, Religion, politischer oder sonstiger Überzeugung.",
    ),
    (
        "Vietnamese",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. Mọi con người đều được tạo hóa ban cho lý trí và \
         lương tâm và cần phải đối xử với nhau trong tình bằng hữu. Mọi người đều được hưởng tất cả những quyền và tự do nêu trong Bản \
         tuyên ngôn này, không phân biệt chủng tộc, màu da, giới tính, ngôn ngữ, tôn giáo, quan điểm chính trị.",
    ),
    (
        "Russian",
        "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и должны поступать в \
         отношении друг друга в духе братства. Каждый человек должен обладать всеми правами и всеми свободами, провозглашёнными \
         настоящей Декларацией, без какого бы то ни было различия, как-то в отношении расы, цвета кожи, пола, языка, религии.",
    ),
    (
        "Greek",
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, \
         και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης. Κάθε άνθρωπος δικαιούται να επικαλείται όλα τα δικαιώματα και \
         όλες τις ελευθερίες που προκηρύσσει η παρούσα Διακήρυξη, χωρίς καμία απολύτως διάκριση.",
    ),
    (
        "Arabic",
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء. لكل إنسان حق \
         التمتع بكافة الحقوق والحريات الواردة في هذا الإعلان، دون أي تمييز، كالتمييز بسبب العنصر أو اللون أو الجنس أو اللغة أو الدين أو \
         الرأي السياسي أو أي رأي آخر.",
    ),
    (
        "Hindi",
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें \
         भाईचारे के भाव से बर्ताव करना चाहिए। सभी को इस घोषणा में सन्निहित सभी अधिकारों और आज़ादियों को प्राप्त करने का हक़ है और इस मामले में जाति, वर्ण, लिंग, \
         भाषा, धर्म, राजनीति या अन्य विचार.",
    ),
    (
        "Chinese",
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。人人有资格享有本宣言所载的一切权利和自由，不分种族、肤色、性别、\
         语言、宗教、政治或其他见解、国籍或社会出身、财产、出生或其他身分等任何区别。",
    ),
    (
        "Japanese",
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。\
         すべて人は、人種、皮膚の色、性、言語、宗教、政治上その他の意見によるいかなる差別をも受けることなく、この宣言に掲げるすべての権利と自由とを享有することができる。",
    ),
    (
        "Korean",
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다. \
         모든 사람은 인종, 피부색, 성, 언어, 종교, 정치적 또는 기타의 견해 등과 같은 어떠한 종류의 차별이 없이, 이 선언에 규정된 모든 권리와 자유를 향유할 자격이 있다.",
    ),
];

/// So many documents of about two thousand bytes, each with its id.
pub fn documents(text: &str, count: u64) -> Vec<(String, String)> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = match text.matches(' ').count() {
        0 => characters.chunks(2).map(String::from_iter).collect(),
        _ => text.split_inclusive(' ').map(str::to_owned).collect(),
    };
    let document = |n: u64| {
        let (mut document, mut place) = (String::new(), 0);
        while document.len() < 2000 {
            document += &pieces[(mix(n << 32 | place) % pieces.len() as u64) as usize];
            place += 1;
        }
        (n.to_string(), document)
    };
    (0..count).map(document).collect()
}
