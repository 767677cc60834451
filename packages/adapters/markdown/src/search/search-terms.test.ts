import { containsWords, MAX_SEARCHED_WORDS } from '@parley/domain/messages';
import { SEARCH_LANGUAGES } from '@parley/domain/realms';
import { workMsOf } from '@parley/testkit/process-usage';
import { htmlMessages } from '../html-messages.js';
import { highlightContent } from './highlight-search.js';
import { searchedWords, searchTerms, WantedTerms } from './search-terms.js';
import { DETECTED_LANGUAGES, languagesWriting, SearchLanguages } from './word-forms.js';

/** True if a search for the query finds the text. */
function finds(query: string, text: string): boolean {
  const terms = new Set(searchTerms(text));
  const words = searchedWords(query);
  return words.length > 0 && containsWords(terms, words);
}

describe('searchTerms', () => {
  it.each([
    ['Meetings, meet MEETING', ['meet', 'meetings', 'meeting']],
    ['users deployed happily', ['user', 'deploy', 'deployed', 'happili']],
    ['what is it?', []],
    ['well-known: foo_bar', ['well-known', 'wellknown', 'well', 'known', 'foo', 'bar', 'foo_bar']],
    [
      'see https://example.com/a?b, or me@example.com.',
      ['see', 'example.com/a?b,', 'example.com', '/a?b,', 'me@example.com', 'exampl', 'com'],
    ],
    ['naïve x2', ['naïv', '~naiv', 'x2']],
    ['Größe', ['grösse', '~gross', '~groess']],
    ['日本語', ['日本', '本语', '语']],
    ['東京に', ['东京', '京に', 'に']],
    ['iPhone12手机', ['iphone12', 'phone', '12', 'iphon', 'phone12', '手机', '机']],
    ['aB1cD2eF3gH4iJ5', ['ab1cd2ef3gh4ij5', '1', '2', '3', '4', '5']],
    ['请看example.com/a说明', ['请看', '看', 'example.com/a', 'example.com', '/a', 'exampl', 'com', '说明', '明']],
    ['กาแฟ', ['กา', 'าแ', 'แฟ', 'ฟ']],
    ['', []],
  ])('turns %j into %j and the stems of its languages', (text, terms) => {
    const others = searchTerms(text).filter((term) => !term.startsWith('*'));
    expect(others.sort()).toEqual([...terms].sort());
  });

  it.each([
    ['Die Häuser sind alt', ['*haus', '*alt']],
    ['The houses are old', []],
    ['deploy failed', []],
    ['Мои книги', ['*мо', '*книг']],
    ['Моя книга і зошит', ['*моя', '*книг', '*зошит']],
    ['Моја књига', []],
    ['Nowe karty są w biurze', ['*now', '*kart', '*biur']],
    ['日本語', []],
  ])('adds for %j the stems %j', (text, stems) => {
    expect(searchTerms(text)).toEqual(expect.arrayContaining([...stems]));
    if (stems.length === 0) expect(searchTerms(text).filter((term) => term.startsWith('*'))).toEqual([]);
  });

  it('stems words except those longer than words of any language', () => {
    const word = 'x'.repeat(10_000);
    expect(searchTerms(`${word}ing ${word}`)).toEqual([`${word}ing`, word]);
  });

  it('takes linear time for any text', async () => {
    for (const piece of ['日', 'e\u0301', '\u0301', 'ﷺ', 'が', 'é.', '日.', 'a日', '\u00ad', 'a\u00ad']) {
      const text = piece.repeat(10_000);
      const readBoth = () => [searchTerms(text), searchedWords(text)];
      expect(await workMsOf(readBoth, 1000)).toBeLessThan(1000);
    }
  });
});

describe('searchedWords', () => {
  it('counts a run of letters as one word with at most eight pairs', () => {
    const words = searchedWords(`${'我家在上海东边的一条小路上'} lunch`);
    expect(words).toHaveLength(2);
    expect(words[0]).toHaveLength(8);
  });

  it.each([
    ['a run that a former release indexed as one word', '我家在上海', ['我家在上海']],
    ['a word of several scripts', 'iPhone手机', ['iphone手机']],
    ['an address within a run', '请看example.com', ['请看example.com']],
    ['a word with diacritics', 'Cafés', ['café']],
    ['a decomposed word', 'Cafe\u0301s', ['cafe\u0301']],
    ['a pointed word', 'שָׁלוֹם', ['שָׁלוֹם']],
    ['a hyphenated run', '上海-北京', ['上海-北京', '上海', '北京']],
  ])('finds %s by its former terms', (_, query, formerTerms) => {
    expect(containsWords(new Set(formerTerms), searchedWords(query))).toBe(true);
  });
});

describe('searchedWords and searchTerms', () => {
  it.each([
    ['Donaudampfschiff', 'das Donau\u00addampf\u00adschiff'],
    ['Do\u00adnau', 'die Donau'],
    ['email', 'per E\u2011Mail'],
    ['e-mail', 'per E\u2011Mail'],
    ['e\u2011mail', 'per E-Mail und Post'],
    ['utf-8', 'in UTF\u20108'],
    ['上海', '上\u00ad海'],
    ['example.com', 'see exam\u00adple.com/menu'],
    ['上海', '我家在上海东边'],
    ['东边', '我家在上海东边'],
    ['海', '我家在上海东边'],
    ['边', '我家在上海东边'],
    ['我', '我家在上海东边'],
    ['東京', '明日東京タワーへ行く'],
    ['タワー', '明日東京ﾀﾜｰへ行く'],
    ['학교', '학교에서 만나요'],
    ['물', '물을 마셔요'],
    ['report.xlsx', 'レポートreport.xlsxを送りました'],
    ['zhang@corp.example', '发给zhang@corp.example了'],
    ['192.168.10.5', 'IPは192.168.10.5です'],
    ['PROJ-456', '이슈는 PROJ-456에서'],
    ['3.4.5', 'v3.4.5を出す'],
    ['3.14', '3.14元'],
    ['server.log', 'server.logを見て'],
    ['CVE-2024-9999', 'CVE-2024-9999に'],
    ['CVE-2024', 'CVE-2024-9999に'],
    ['report.pdf', 'ไฟล์report.pdfอยู่ที่'],
    ['max_pool_size', '设置max_pool_size为10'],
    ['/var/log/app.log', '查看/var/log/app.log文件'],
    ['https://example.com/menu', '看https://example.com/menu，然后'],
    ['日本語.txt', 'ファイル日本語.txtを見て'],
    ['见 example', '见https://example.com'],
    ['サーバーが', 'サーバを再起動'],
    ['サーバ', 'サーバーが落ちた'],
    ['ข้าว', 'ฉันกินข้าวแล้ว'],
    ['cafe', 'café'],
    ['café', 'cafe'],
    ['CAFÉ', 'cafe\u0301'],
    ['Strasse', 'Die Straße'],
    ['Straße', 'Die STRASSE'],
    ['Mueller', 'Müller'],
    ['Müller', 'Mueller'],
    ['Muller', 'Müller'],
    ['oeuvre', 'œuvre'],
    ['office', 'oﬃce'],
    ['error 42', 'ＥＲＲＯＲ ４２'],
    ['שלום', 'שָׁלוֹם'],
    ['كتاب', 'كِتَابٌ'],
    ['احمد', 'أحمد'],
    ['國家', '我们的国家'],
    ['国家', '我們的國家'],
    ['İstanbul', 'istanbul'],
    ['Istanbul', 'İSTANBUL'],
    ['ёлка', 'елка'],
    ['п\u02bcятниця', "у п'ятниця"],
    ["п'ятниця", 'у п\u02bcятниця'],
    ['п\u2019ятниця', 'у п\u02bcятниця'],
    ['елка', 'ёлка'],
    ['फाइल', 'ज़रूरी फ़ाइल'],
    ['गडबडी', 'ऐप में गड़बड़ी है'],
    ['फ़ाइल', 'यह फाइल है'],
    ['Ὀδυσσεύς', 'οδυσσευς'],
    ['dieu duong', 'điều dưỡng'],
    ['Haus', 'Die Häuser sind alt.'],
    ['Häuser', 'Das Haus ist alt.'],
    ['vue', 'elle est vu dans la rue'],
    ['Server', 'Der Datenbankserver ist nicht erreichbar'],
    ['Datenbank', 'Die Datenbankserver sind nicht erreichbar'],
    ['Haus', 'Die Krankenhäuser sind voll'],
    ['Arbeit', 'Die Arbeitszeiten sind neu'],
    ['Zeit', 'Die Arbeitszeiten sind neu'],
    ['Daten', 'Die Kundendaten sind im Archiv'],
    ['Daten ', 'Der Datenschutz ist wichtig'],
    ['Namen', 'Die Dateinamen sind zu lang'],
    ['rekening', 'De bankrekeningen zijn geblokkeerd'],
    ['bank', 'De bankrekeningen zijn geblokkeerd'],
    ['ciudad', 'Las ciudades son grandes'],
    ['ville', 'les grandes villes'],
    ['lápiz', 'los lápices y las luces'],
    ['luces', 'la luz es muy clara'],
    ['huis', 'De huizen zijn oud'],
    ['schijven', 'De schijf is vol'],
    ['palvelin', 'Palvelimen levy on täynnä'],
    ['sovellukset', 'Sovellus ei toimi'],
    ['Helsinki', 'Helsingin toimisto on kiinni'],
    ['zaměstnanec', 'Zaměstnanci jsou na obědě'],
    ['звонок', 'У меня два звонка'],
    ['reunião', 'As reuniões foram canceladas'],
    ['reuniao', 'As reuniões foram canceladas'],
    ['reuniões', 'A reunião foi cancelada'],
    ['papel', 'Os papéis estão na mesa'],
    ['descartáveis', 'O material é descartável'],
    ['hasło', 'Nie mogę zmienić hasła'],
    ['umowa', 'Proszę wysłać umowę do działu prawnego'],
    ['pracownik', 'Nowi pracownicy są w biurze'],
    ['błędy', 'Jest błąd w aplikacji'],
    ['spotkanie', 'Po spotkaniu wyślę notatki'],
    ['рахунок', 'Надіслали рахунки клієнтам'],
    ['база', 'Хто має доступ до бази?'],
    ['колега', 'Колеги вже пішли'],
    ['книга', 'Я читаю книги'],
    ['письмо', 'три письма'],
    ['كتاب', 'قرأت الكتاب'],
    ['Öffnung', 'Öffnungen'],
    ['bar', 'call fooBarBaz now'],
    ['fooBar', 'call fooBar now'],
    ['foobar', 'call fooBar now'],
    ['server', 'the HTTPServer class'],
    ['http', 'the HTTPServer class'],
    ['HTMLString', 'call parseHTMLString now'],
    ['getUserBy now', 'call getUserById now'],
    ['iphone 15', 'the iPhone15 is here'],
    ['oauth2', 'the OAuth2Provider class'],
    ['404', 'it fails with ERR404'],
    ['reset', 'ERR_CONN_RESET'],
    ['ERR_CONN_RESET', 'ERR_CONN_RESET'],
    ['ERR_CO', 'ERR_CONN_RESET'],
    ['/var/lo', 'see /var/log/nginx/error.log'],
    ['email', 'two e-mails'],
    ['co-operation', 'cooperation with sales'],
    ['utf-8', 'encode it as UTF8'],
    ['utf8', 'encode it as UTF-8'],
    ['example.com', 'see https://api.example.com/v2'],
    ['replica-2', 'the disk of db-replica-2 is full'],
    ['CVE-2024', 'fixes CVE-2024-3094'],
    ['web-03 down', 'web-03.example.net is down'],
    ['connector', 'see src/db/connector.ts'],
    ['src/db/connector.ts', 'see src/db/connector.ts'],
    ['connector.ts', 'see connector.ts'],
    ['connector.ts', 'see src/db/connector.ts'],
    ['login-page', 'merge feature/login-page'],
    ['1.4.2', 'released v1.4.2'],
    ['v1.4.2', 'released v1.4.2'],
    ['anna', 'ask anna.berg@example.com'],
    ['berg', 'ask anna.berg@example.com'],
    ['example.com', 'ask anna.berg@example.com'],
    ['anna.berg@example.com', 'ask anna.berg@example.com'],
    ['deploym', 'the deployment failed'],
    ['failed deploy', 'the deployment failed'],
    ['meetin', 'the meetings'],
    ['caf', 'Le café'],
    ['אפליק', 'יש באג באפליקציה'],
    ['לקוח', 'שלחתי את זה ללקוחות'],
    ['café', 'les cafés'],
    ['größ', 'Größere Dateien'],
    ['Groess', 'Größere Dateien'],
    ['прило', 'в приложении'],
    ['parseSe', 'call parseSearchQuery'],
    ['max_poo', 'max_pool_size'],
    ['connector.t', 'see src/db/connector.ts'],
    ['anna.berg@ex', 'ask anna.berg@example.com'],
    ['well-kno', 'a well-known bug'],
    ['resume.pdf', 'see résumé.pdf'],
    ['résumé.pdf', 'see resume.pdf'],
    ['résumé.pdf', 'see résumé.pdf'.normalize('NFD')],
    ['résumé.pdf'.normalize('NFD'), 'see résumé.pdf'],
    ['ubersicht.xl', 'siehe Übersicht.xlsx'],
    ['Mueller-Strasse', 'in der Müller-Straße'],
    ['회의', '회의록'.normalize('NFD')],
    ['회의'.normalize('NFD'), '회의록'],
    ['9fceb02', 'reverts 9fceb02d0ae598e95dc970b74767f19372d61af8'],
    ['ការប្រជុំ', 'ថ្ងៃស្អែក\u200bមាន\u200bការ\u200bប្រជុំ\u200bនៅ'],
    ['ការ\u200bប្រជុំ', 'ថ្ងៃស្អែកមានការប្រជុំនៅ'],
    ['lunch', 'ไทย\u200blunch\u200bไทย'],
    ['compte-rendu ', 'voici le compte-rendu_mai.pdf'],
    ['compte-rendu ', 'compte-rendu.pdf'],
    ['comptes-rendus', 'le compte-rendu est prêt'],
    ['compte-rendu ', 'les comptes-rendus sont prêts'],
    ['Mai.pdf', 'Die Rechnungen_Mai.pdf ist da'],
    ['rechnung ', 'Die Datei ist Rechnungen.pdf und nicht mehr'],
    ['client-2024 ', 'la facture_client-2024.pdf est là'],
    ['C++', 'we use C++ here'],
    ['c++ ', 'C++17 and later'],
    ['C#', 'written in C#'],
    ['AT&T', 'AT&T signed'],
    ['r&d ', 'the R&D contract'],
    ['máy in', 'Máy in ở tầng hai bị hỏng'],
    ['máy in ', 'cần mua máy in'],
    ['cần can', 'cần mua can dầu'],
    ['não me', 'não me lembro da senha'],
    ['réunion in', 'la réunion'],
    ["don't", 'We don\u2019t support it'],
    ['dont', "We don't support it"],
    ["O'Brien", "the O'Brien account"],
    ['obrien', "the O'Brien account"],
    ["п'ят", "на п'ятницю"],
    ['👍', 'thanks :+1:'],
    ['👍', 'thanks :thumbs_up:'],
    ['👍🏽', 'thanks 👍'],
    ['ship 🎉', '🎉 we ship it'],
    [':+1:', 'thanks :+1:'],
    [':tada:', 'thanks :tada:'],
    ['install', 'see https://docs.example.com/guide/install#step-2'],
  ])('find by %s the text %s', (query, text) => {
    expect(finds(query, text)).toBe(true);
  });

  it.each([
    ['上海', '海上有风'],
    ['京都', '東京と都市'],
    ['학교', '학생 교실'],
    ['bán', 'bạn'],
    ['jornal', 'A jornada é longa'],
    ['vez', 'el vecino está aquí'],
    ['koc', 'Koty są w biurze'],
    ['hasać', 'Nie mogę zmienić hasła'],
    ['дискусія', 'місце на диску'],
    ['пёс', 'пес'.replace('п', 'л')],
    ['Müller', 'Miller'],
    ['й', 'и'],
    ['कल', 'काल'],
    ['news', 'The new release is out'],
    ['foobaz', 'call fooBar now'],
    ['fooBaz', 'call fooBarBaz now'],
    ['getUser', 'get the user'],
    ['1.4.3', 'released v1.4.2'],
    ['arb', 'call fooBar now'],
    ['CVE-2024', 'fixes CVE-20245'],
    ['ample.com', 'see https://api.example.com/v2'],
    ['10-12', 'the ticket 1012'],
    ['re-design', 'design it'],
    ['ERR_CO ', 'ERR_CONN_RESET'],
    ['user_id', 'the user_name is wrong'],
    ['carné', 'Carnival is over'],
    ['книга', 'Я читаю газету'],
    ['deploym ', 'the deployment failed'],
    ['"deploym"', 'the deployment failed'],
    ['deploym failed', 'the deployment failed'],
    ['deploymx', 'the deployment failed'],
    ['de', 'the deployment failed'],
    ['café', 'une cafeteria'],
    ['9fceb0', 'reverts 9fceb02d0ae598e95dc970b74767f19372d61af8'],
    ['server12', 'server123'],
    ['résumé.pdf', 'see résume.pdf'],
    ['204', 'INV-2041'],
    ['1.4', 'released v1.4.2'],
    ['ployment', 'the deployment failed'],
    ['haus', 'Ha!'],
    ['Haus', 'Ya ha terminado.'],
    ['misin', 'mi casa está aquí'],
    ['richten', 'Die Nachrichten sind da'],
    ['nehmen', 'Das Unternehmen ist groß'],
    ['Freund ', 'Die Freundschaft ist alt'],
    ['nach ', 'Das sind die Nachrichten'],
    ['ware', 'the hardware is not here'],
    ['Daten ', 'Das Datumsformat ist falsch'],
    ['Essen', 'Das sind die Interessen der Firma'],
    ['rat', 'Die Heirat ist im Mai'],
    ['luz', 'Lucía está aquí'],
    ['luz', 'Lucas no está'],
    ['bán', 'báo cáo'],
    ['C++', 'written in C#'],
    ['C#', 'C is fine'],
    ['AT&T', 'at the office'],
    ['R&D', 'D&R'],
    ['máy in', 'Máy chủ bị lỗi'],
    ['máy in', 'máy ảnh này inox'],
    ["don't", 'do it'],
    ['ill', "we think I'll go"],
    ['👍', ':-1: no 👎'],
    [':+1:', 'room 1'],
    ['ship ', 'the 🚢 is here'],
  ])('do not find by %s the text %s', (query, text) => {
    expect(finds(query, text)).toBe(false);
  });
});

describe('inLanguages', () => {
  const finds = (codes: string, query: string, text: string) => {
    const { searchTerms, searchedWords } = htmlMessages.inLanguages(codes);
    return containsWords(new Set(searchTerms(text)), searchedWords(query));
  };

  const CODES = SEARCH_LANGUAGES.filter((code) => code !== 'en');

  it.each(CODES)('has the language %s', (code) => {
    expect(new SearchLanguages(code).of('wort слово كلمة').map((language) => language.code)).toContain(code);
    expect(languagesWriting('wort слово كلمة').map((language) => language.code)).toContain(code);
  });

  it.each(CODES)('only adds terms to those of texts without the language %s', (code) => {
    for (const text of [
      'Die Häuser sind alt',
      'Мои книги и файлы',
      'Моя книга і зошит',
      'Los lápices y las luces',
      'Palvelimen levy on täynnä',
      'قرأت الكتاب',
      'meetings',
    ]) {
      const terms = new Set(htmlMessages.inLanguages(code).searchTerms(text));
      expect(searchTerms(text).filter((term) => !terms.has(term))).toEqual([]);
    }
  });

  it.each([
    ['de', 'Wartungen', 'Wartung verschoben'],
    ['fr,de', 'Wartungen', 'Wartung verschoben'],
    ['de', 'Häuser', 'Haus and the garden are here'],
    ['de', 'Server ', 'I am at the Datenbankserver'],
    ['uk', 'база', 'Доступ до бази'],
    ['ru', 'база', 'бази даних'],
    ['fi', 'palvelin', 'palvelimet'],
    ['it', 'riunione', 'riunioni'],
    ['sv', 'bilar', 'a new bil'],
    ['tr', 'sunucu', 'sunucular'],
    ['de', 'файл ', 'Новые файлы здесь'],
  ])('finds, in the language %s, by %s the text %s', (codes, query, text) => {
    expect(finds(codes, query, text)).toBe(true);
  });

  it('finds no other forms in texts without frequent words, without the setting', () => {
    expect(finds('', 'Wartungen', 'Wartung verschoben')).toBe(false);
  });

  it('has at most five languages', () => {
    const frequent = 've bir ja és hogy nem der und le la el que';
    expect(new SearchLanguages('ar,cs,da,de,es').of(frequent)).toHaveLength(5);
  });

  it('highlights the same forms', () => {
    expect(htmlMessages.inLanguages('de').highlightTopic('Wartung Server', ['Wartungen'])).toBe(
      '<span class="highlight">Wartung</span> Server',
    );
  });
});

describe('highlightContent', () => {
  const hit = (text: string) => `<span class="highlight">${text}</span>`;
  it.each([
    ['上海东', '我家在上海东边', `我家在${hit('上海东')}边`],
    ['cafe', 'Le café.', `Le ${hit('café')}.`],
    ['海', '我家在上海东边海', `我家在上${hit('海')}东边${hit('海')}`],
    ['ﾀﾜｰ', '東京タワーへ', `東京${hit('タワー')}へ`],
    ['ការប្រជុំ', 'មាន\u200bការ\u200bប្រជុំ\u200bនៅ', `មាន\u200b${hit('ការ\u200bប្រជុំ')}\u200bនៅ`],
    ['学校', '学校、学生', `${hit('学校')}、学生`],
    ['failed deploym', 'failed deployments', `${hit('failed')} ${hit('deployments')}`],
    ['deploym failed', 'failed deployments', `${hit('failed')} deployments`],
    ['Haus', 'Die <em>Häuser</em> sind <b>alt</b>', `Die <em>${hit('Häuser')}</em> sind <b>alt</b>`],
    ['AT&T', 'AT&amp;T &amp; a&amp;b', `${hit('AT&amp;T')} &amp; a&amp;b`],
    ['amp butter', 'x-AT&amp;T bread&amp;butter', `x-AT&amp;T bread&amp;${hit('butter')}`],
    ['máy in ', 'Máy in', `${hit('Máy')} ${hit('in')}`],
    ['כתב', 'כָּתַב &amp; a', `${hit('כָּתַב')} &amp; a`],
    ['Dampfer', 'a\u00ad &amp; Dampf\u00ader\u00ad, b', `a\u00ad &amp; ${hit('Dampf\u00ader')}\u00ad, b`],
    ['email', 'b\u00adc E\u2011Mail d', `b\u00adc ${hit('E\u2011Mail')} d`],
  ])('marks the words and pairs of %s in %s', (query, text, expected) => {
    expect(highlightContent(`<p>${text}</p>`, [query])).toBe(`<p>${expected}</p>`);
  });
});

describe('work for one text', () => {
  /** A frequent word of each language with Latin letters. */
  const FREQUENT =
    've bir ja és hogy nem der und le la el que het een og i att det și în na se je w z nie il di os um uma';
  /** Random words in which every stemmer finds endings to remove. */
  const random = (letters: string, count: number) =>
    Array.from({ length: count }, (_, n) =>
      Array.from({ length: 6 }, (_, at) => letters[(n * 7919 + at * 104729 + n * at * 31) % letters.length]).join(''),
    ).join(' ');
  const stemsIn = (text: string) => searchTerms(text).filter((term) => term.startsWith('*')).length;

  it.each([
    ['Turkish', 'abcdefghijklmnopqrstuvwxyzçğıöşü'],
    ['German', 'abcdefghijklmnopqrstuvwxyzäöüß'],
    ['English', 'abcdefghijklmnopqrstuvwxyz'],
    ['Russian', 'абвгдежзийклмнопрстуфхцчшщъыьэюя'],
    ['Arabic', 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
  ])('is bounded for a text of many new words in %s letters', (_, letters) => {
    // At most 400 words in three languages.
    expect(stemsIn(`${FREQUENT} ${random(letters, 1400)}`)).toBeLessThanOrEqual(1200);
  });

  it('keeps the plain terms of words without stems', () => {
    const words = random('abcdefghijklmnopqrstuvwxyz', 1400).split(' ');
    const terms = new Set(searchTerms(`der und die das ${words.join(' ')}`));
    expect(words.filter((word) => !searchedWords(`${word} `).every((word) => containsWords(terms, [word])))).toEqual(
      [],
    );
  });

  it('has at most three languages', () => {
    expect(DETECTED_LANGUAGES.of(FREQUENT)).toHaveLength(3);
  });

  it.each([
    ['many words', random('abcdefghijklmnopqrstuvwxyz', 1400)],
    ['identifiers of many parts', random('abcdefghijklmnopqrstuvwxyz', 1400).replaceAll(' ', '_')],
    ['hyphenated words', random('abcdefghijklmnopqrstuvwxyz', 1400).replaceAll(/ (\w+) /g, '-$1 ')],
  ])('ends after more words of a query than may be searched for: %s', (_, query) => {
    expect(searchedWords(query).length).toBeLessThanOrEqual(MAX_SEARCHED_WORDS + 5);
  });

  it('looks up a repeated word of a query once', () => {
    expect(searchedWords('meeting '.repeat(1000))).toEqual(searchedWords('meeting '));
  });
});

describe('WantedTerms', () => {
  it('rejects words with another first letter', () => {
    const wanted = new WantedTerms(['*toplant', '~meeting', { beginning: 'čer' }]);
    expect(['toplantı', 'Tisch', 'meet', 'černý', 'HttpServer'].filter((word) => wanted.mayBeTermsOf(word))).toEqual([
      'toplantı',
      'Tisch',
      'meet',
      'černý',
      'HttpServer',
    ]);
    expect(['leave', 'şeker', 'Ärger', '日本'].filter((word) => wanted.mayBeTermsOf(word))).toEqual([]);
  });
});
