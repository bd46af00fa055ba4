//! Antecedents and stop words, one entry for each language.
//!
//! Fingerprints depend on them, so they are fixed here and do not change with an external list. They are few, and
//! function words only: general stop lists also contain words such as *home*, *world* or *make*, and every skipped
//! content word blurs a spot.

use crate::algorithm::parameter::WordList;
use crate::hash::token_hash;
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64;

/// The words of one language, normalised as by the default tokenizer. Each is one of its tokens.
#[derive(Debug)]
pub struct Language {
    /// The value of the parameter `antecedents`: the ISO 639-1 code.
    pub code: &'static str,
    /// The antecedents, separated by spaces. Chains skip them.
    pub antecedents: &'static str,
    /// Other words that chains skip, separated by spaces.
    pub skipped: &'static str,
}

/// Every language, the default first.
///
/// English antecedents are the articles, as in the paper's example, and the forms of *be*, *can*, *will*, *shall*,
/// *have* and *do* that the published configuration of its reference program lists. The lists of the other languages
/// were compiled for this crate after the same pattern; their quality has not been measured.
pub static LANGUAGES: &[Language] = &[
    Language {
        code: "en",
        antecedents: "a an the be is are was will would shall should can could has have had do did does done",
        skipped: "i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our \
                  ours ourselves they them their theirs themselves this that these those who whom whose which what \
                  about above across after against along among around as at before behind below beneath beside between \
                  beyond by down during for from in inside into near of off on onto out outside over past since through \
                  throughout till to toward towards under until up upon with within without \
                  and or but nor so yet if then than because while although though unless whether when where why how \
                  am were been being having doing may might must ought not no there here too also only just very such \
                  both each either neither some any all own same other s t d ll re ve m",
    },
    Language {
        code: "de",
        antecedents: "der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden hat haben hatte \
                      kann können",
        skipped: "ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine er ihn ihm sein seine seinen \
                  seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser unsere euch euer eure sich man \
                  dieser diese dieses diesen diesem jener jene jenes wer wen wem wessen was welcher welche welches \
                  ab am an auf aus ausser bei beim bis durch für gegen hinter im in ins mit nach neben ohne seit über um unter \
                  von vom vor wegen zu zum zur zwischen und oder aber denn sondern so wenn dann als weil dass ob obwohl \
                  während wo wie warum bin bist seid gewesen worden wurde wurden würde habe hast habt hatten konnte soll \
                  sollen muss müssen darf dürfen nicht kein keine keinen keinem keiner auch nur noch schon sehr da hier",
    },
    Language {
        code: "fr",
        antecedents: "le la les l un une des du est sont était étaient sera seront a ont avait avaient peut peuvent fait font",
        skipped: "je j me m moi mon ma mes tu te t toi ton ta tes il elle on se s soi son sa ses nous notre nos vous votre vos \
                  ils elles lui leur leurs eux ce c cet cette ces cela ça qui que qu quoi dont où lequel laquelle lesquels \
                  à au aux avant après avec chez contre d dans de depuis derrière dès devant en entre jusque par parmi \
                  pendant pour sans selon sous sur vers et ou mais ni or car donc si comme lorsque lorsqu quand parce puisque \
                  suis es sommes êtes être été étant ai as avons avez avoir eu ne n pas plus y aussi très même tout tous \
                  toute toutes",
    },
    Language {
        code: "es",
        antecedents: "el la los las un una unos unas es son era eran fue fueron será serán ha han había habían está están \
                      puede pueden",
        skipped: "yo me mi mis mí tú tu tus te ti él ella ello su sus se sí lo le les nos nosotros nuestro nuestra vosotros \
                  os ellos ellas usted ustedes este esta esto estos estas ese esa eso esos esas aquel aquella que qué quien \
                  quienes cual cuales cuyo cuya a al ante bajo con contra de del desde durante en entre hacia hasta para por \
                  según sin sobre tras y e o u ni pero mas sino si como cuando donde porque pues aunque mientras soy eres \
                  somos ser sido siendo he has hemos haber hay estoy no ya muy también más todo todos toda todas",
    },
    Language {
        code: "zh",
        antecedents: "的 了 是 在 和 有 与 也 就 都 而 及",
        skipped: "着 吗 呢 吧 啊 把 被 这 那 我 你 他 她 它 们 个",
    },
];

/// The longest list of words that is shown as it is.
const SHOWN: usize = 64;

/// The words that spots start with, and those that chains skip, as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordLists {
    /// A name: the code of the language, the words, or a hash of many words. Equal names mean equal lists.
    pub name: String,
    /// Antecedents. Chains skip them.
    pub antecedents: Vec<String>,
    /// Other words that chains skip.
    pub skipped: Vec<String>,
}

impl From<&Language> for WordLists {
    fn from(language: &Language) -> Self {
        let all = |words: &str| words.split_ascii_whitespace().map(str::to_string).collect();
        let (antecedents, skipped) = (all(language.antecedents), all(language.skipped));
        WordLists { name: language.code.to_string(), antecedents, skipped }
    }
}

impl WordLists {
    /// The lists of a language, by its code.
    pub fn of_language(code: &str) -> Option<Self> {
        LANGUAGES.iter().find(|language| language.code == code).map(WordLists::from)
    }

    /// The antecedents of a list of the user. If they are given for a language, chains skip the words of that language;
    /// otherwise the antecedents alone.
    pub fn of_list(list: &WordList) -> Self {
        let words: BTreeSet<String> = list.words.iter().map(|word| word.to_string()).collect();
        let words: Vec<String> = words.into_iter().collect();
        let joined = list.with_words(&words);
        let name = if joined.len() <= SHOWN {
            joined
        } else {
            let hash = format!("list-{:016x}", xxh3_64(words.join("\n").as_bytes()));
            list.with_words(&[hash]).trim_end_matches(',').to_string()
        };
        let of_language = list.base.and_then(WordLists::of_language);
        let WordLists { antecedents, skipped, .. } =
            of_language.unwrap_or(WordLists { name: String::new(), antecedents: Vec::new(), skipped: Vec::new() });
        let (antecedents, skipped) = match list.adds {
            true => ([antecedents, words].concat(), skipped),
            // The stop words of the language remain stop words.
            false => (words, [antecedents, skipped].concat()),
        };
        WordLists { name, antecedents, skipped }
    }
}

/// The role of a token in spots. Exhaustive: the method knows these three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It starts a spot; chains skip it.
    Antecedent,
    /// Chains skip it.
    Skipped,
    /// Chains consist of it.
    Content,
}

/// Lists of words as token hashes of one seed.
#[derive(Debug)]
pub struct Words {
    seed: u64,
    /// An open-addressing table of the numbers of words, from 1, indexed by the low bits of the hash and at most a sixteenth full, so
    /// that nearly every search ends at once; 0 for a free slot.
    slots: Vec<u32>,
    /// The hash of each word by its number, the antecedents first. No word has the number 0.
    hashes: Vec<u64>,
    antecedents: u32,
}

impl Words {
    /// The words of these lists, for tokens hashed with `seed`.
    pub fn new(lists: &WordLists, seed: u64) -> Self {
        let all = lists.antecedents.len() + lists.skipped.len();
        let slots = (16 * all).next_power_of_two();
        let mut words = Words { seed, slots: vec![0; slots], hashes: vec![0], antecedents: 0 };
        words.add(&lists.antecedents);
        words.antecedents = words.hashes.len() as u32 - 1;
        // A word in both lists stays an antecedent.
        words.add(&lists.skipped);
        words
    }

    fn add(&mut self, words: &[String]) {
        for hash in words.iter().map(|word| token_hash(word.as_bytes(), self.seed)) {
            let slot = self.slot(hash);
            if self.slots[slot] == 0 {
                self.slots[slot] = self.hashes.len() as u32;
                self.hashes.push(hash);
            }
        }
    }

    /// Returns the seed of the token hashes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the role of a token.
    #[inline]
    pub fn role(&self, token: u64) -> Role {
        // A free slot has the largest number of all then.
        match self.slots[self.slot(token)].wrapping_sub(1) {
            u32::MAX => Role::Content,
            number if number < self.antecedents => Role::Antecedent,
            _ => Role::Skipped,
        }
    }

    /// The slot of a token, or the free slot where its search ends.
    ///
    /// Of a free slot, the hash is read that no word has: few bytes are read, whatever the tokens are.
    #[inline]
    fn slot(&self, token: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = token as usize & mask;
        while (self.slots[slot] != 0) & (self.hashes[self.slots[slot] as usize] != token) {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
    use std::collections::HashSet;

    #[test]
    fn every_word_is_a_token_and_listed_once() {
        for language in LANGUAGES {
            let mut seen = HashSet::new();
            let words = Words::new(&language.into(), 7);
            let lists = [(language.antecedents, Role::Antecedent), (language.skipped, Role::Skipped)];
            for (list, role) in lists {
                for word in list.split_ascii_whitespace() {
                    let mut tokens = Tokens::new(TokenDetail::Everything, 7);
                    Word.tokenize(word, &mut tokens);
                    assert!(tokens.len() == 1, "{}: {word} is no token", language.code);
                    assert_eq!(tokens.text(0), word, "{}: not as the tokenizer has it", language.code);
                    assert_eq!(words.role(tokens.hashes()[0]), role, "{}: {word}", language.code);
                    assert!(seen.insert(word), "{}: {word} twice", language.code);
                }
            }
            assert_eq!(words.role(token_hash(b"weeklong", 7)), Role::Content);
            assert_eq!(words.role(0), Role::Content);
        }
    }
}
