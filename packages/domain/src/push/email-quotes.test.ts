import { workMsOf } from '@parley/testkit/process-usage';
import { QUOTE_WORDS } from './email-quote-words.js';
import { withoutQuotes } from './email-quotes.js';

/** Lines above quoted emails, as mail programs write them. */
const SAMPLES: Readonly<
  Record<keyof typeof QUOTE_WORDS, Readonly<Record<'introductions' | 'headers', readonly [string, string]>>>
> = {
  ar: {
    introductions: [
      'في الاثنين، 9 مارس 2026 في 4:22 م تمت كتابة ما يلي بواسطة \u202aJane\u202c\u200f <\u202ajane@example.org\u202c\u200f>:\u202c',
      'في 9 مارس 2026، الساعة 4:22 م، كتب Jane Doe <jane@example.org>:',
    ],
    headers: [
      'من: Jane\nتم الإرسال: الاثنين\nإلى: Bob\nالموضوع: خطة',
      'من: Jane\nالتاريخ: 9 مارس\nإلى: Bob\nنسخة: Eve\nالموضوع: خطة',
    ],
  },
  bg: {
    introductions: [
      'На пн, 9.03.2026 г. в 16:22 Jane <jane@example.org> написа:',
      'На 9.03.2026 г. в 16:22 ч., Jane Doe написа:',
    ],
    headers: [
      'От: Jane\nИзпратено: понеделник\nДо: Bob\nОтносно: план',
      'От: Jane\nДата: понеделник\nДо: Bob\nТема: план',
    ],
  },
  ca: {
    introductions: [
      'Missatge de Jane <jane@example.org> del dia dl., 9 de març 2026 a les 16:22:',
      'El 9/3/26 a les 16:22, Jane Doe va escriure:',
    ],
    headers: ['De: Jane\nEnviat: dilluns\nPer a: Bob\nTema: pla', 'De: Jane\nData: dilluns\nA: Bob\nAssumpte: pla'],
  },
  cs: {
    introductions: [
      'po 9. 3. 2026 v 16:22 odesílatel Jane <jane@example.org> napsal:',
      'Dne 09. 03. 26 v 16:22 Jane Doe napsal(a):',
    ],
    headers: [
      'Od: Jane\nOdesláno: pondělí\nKomu: Bob\nPředmět: plán',
      'Od: Jane\nDatum: pondělí\nKomu: Bob\nKopie: Eve\nPředmět: plán',
    ],
  },
  da: {
    introductions: [
      'Den man. 9. mar. 2026 kl. 16.22 skrev Jane <jane@example.org>:',
      'Den 09.03.2026 kl. 16:22 skrev Jane Doe:',
    ],
    headers: [
      'Fra: Jane\nSendt: mandag\nTil: Bob\nEmne: plan',
      'Fra: Jane\nDato: mandag\nTil: Bob\nCc: Eve\nEmne: plan',
    ],
  },
  de: {
    introductions: [
      'Jane <jane@example.org> schrieb am Mo., 9. März 2026, 16:22:',
      'Am 09.03.2026 um 16:22 schrieb Jane Doe:',
    ],
    headers: [
      'Von: Jane\nGesendet: Montag\nAn: Bob\nBetreff: Plan',
      '*Von:* Jane\n*Datum:* Montag\n*An:* Bob\n*Betreff:* Plan',
    ],
  },
  el: {
    introductions: [
      'Στις Δευ 9 Μαρ 2026 στις 4:22 μ.μ., ο χρήστης Jane <jane@example.org> έγραψε:',
      'Στις 9/3/2026 16:22, ο/η Jane Doe έγραψε:',
    ],
    headers: [
      'Από: Jane\nΣτάλθηκε: Δευτέρα\nΠρος: Bob\nΘέμα: σχέδιο',
      'Από: Jane\nΗμερομηνία: Δευτέρα\nΠρος: Bob\nΚοιν.: Eve\nΘέμα: σχέδιο',
    ],
  },
  en: {
    introductions: [
      'On Mon, Mar 9, 2026 at 4:22 PM Jane Doe <jane@example.org> wrote:',
      'On 09/03/2026 16:22, Jane Doe wrote:',
    ],
    headers: [
      'From: Jane\nSent: Monday\nTo: Bob\nSubject: plan',
      'From: Jane <jane@example.org>\nDate: Monday\nTo: Bob\nCc: Eve\nSubject: plan',
    ],
  },
  es: {
    introductions: [
      'El lun, 9 mar 2026 a las 16:22, Jane (<jane@example.org>) escribió:',
      'El 9/3/26 a las 16:22, Jane Doe escribió:',
    ],
    headers: [
      'De: Jane\nEnviado: lunes\nPara: Bob\nAsunto: plan',
      'De: Jane\nEnviado el: lunes\nPara: Bob\nCC: Eve\nAsunto: plan',
    ],
  },
  et: {
    introductions: [
      'Kuupäev E, 9. märts 2026 kell 16:22 kirjutas Jane <jane@example.org>:',
      'Jane Doe kirjutas 9.03.2026 kell 16:22:',
    ],
    headers: [
      'Saatja: Jane\nSaadetud: esmaspäev\nAdressaat: Bob\nTeema: plaan',
      'Saatja: Jane\nKuupäev: esmaspäev\nSaaja: Bob\nTeema: plaan',
    ],
  },
  fa: {
    introductions: [
      'در تاریخ دوشنبه ۹ مارس ۲۰۲۶،\u200f ۱۶:۲۲ Jane <\u202ajane@example.org\u202c\u200f> نوشت:',
      'در 2026/3/9 16:22، Jane Doe نوشت:',
    ],
    headers: ['از: Jane\nارسال شده: دوشنبه\nبه: Bob\nموضوع: طرح', 'از: Jane\nتاریخ: دوشنبه\nبه: Bob\nموضوع: طرح'],
  },
  fi: {
    introductions: [
      'ma 9. maalisk. 2026 klo 16.22 Jane (jane@example.org) kirjoitti:',
      'Jane Doe kirjoitti 9.3.2026 klo 16.22:',
    ],
    headers: [
      'Lähettäjä: Jane\nLähetetty: maanantai\nVastaanottaja: Bob\nAihe: suunnitelma',
      'Lähettäjä: Jane\nPäiväys: maanantai\nVastaanottaja: Bob\nKopio: Eve\nAihe: suunnitelma',
    ],
  },
  fr: {
    introductions: [
      'Le lun. 9 mars 2026 à 16:22, Jane <jane@example.org> a écrit\u00a0:',
      'Le 09/03/2026 à 16:22, Jane Doe a écrit :',
    ],
    headers: [
      'De : Jane\nEnvoyé : lundi\nÀ : Bob\nObjet : plan',
      'De\u00a0: Jane\nDate\u00a0: lundi\nÀ\u00a0: Bob\nCc\u00a0: Eve\nObjet\u00a0: plan',
    ],
  },
  he: {
    introductions: [
      '\u202bבתאריך יום ב׳, 9 במרץ 2026 ב-16:22 מאת \u202aJane\u202c\u200f <\u202ajane@example.org\u202c\u200f>:\u202c',
      'בתאריך 9 במרץ 2026, בשעה 16:22, Jane Doe כתב/ה:',
    ],
    headers: [
      'מאת: Jane\nנשלח: יום שני\nאל: Bob\nנושא: תוכנית',
      'מאת: Jane\nתאריך: יום שני\nאל: Bob\nעותק: Eve\nנושא: תוכנית',
    ],
  },
  hi: {
    introductions: [
      'सोम, 9 मार्च 2026 को 4:22 pm बजे को Jane <jane@example.org> ने लिखा:',
      '9 मार्च 2026 को 16:22 बजे Jane Doe ने लिखा:',
    ],
    headers: [
      'प्रेषक: Jane\nभेजा गया: सोमवार\nप्रति: Bob\nविषय: योजना',
      'प्रेषक: Jane\nदिनांक: सोमवार\nप्रति: Bob\nविषय: योजना',
    ],
  },
  hr: {
    introductions: [
      'pon, 9. ožu 2026. u 16:22 Jane <jane@example.org> napisao je:',
      'Dana 9.3.2026. u 16:22, Jane Doe je napisao/la:',
    ],
    headers: [
      'Šalje: Jane\nPoslano: ponedjeljak\nPrima: Bob\nPredmet: plan',
      'Od: Jane\nDatum: ponedjeljak\nZa: Bob\nPredmet: plan',
    ],
  },
  hu: {
    introductions: [
      'Jane <jane@example.org> ezt írta (időpont: 2026. márc. 9., H, 16:22):',
      '2026. 03. 09. 16:22 keltezéssel, Jane Doe írta:',
    ],
    headers: [
      'Feladó: Jane\nElküldve: hétfő\nCímzett: Bob\nTárgy: terv',
      'Feladó: Jane\nDátum: hétfő\nCímzett: Bob\nMásolatot kap: Eve\nTárgy: terv',
    ],
  },
  id: {
    introductions: [
      'Pada tanggal Sen, 9 Mar 2026 pukul 16.22 Jane <jane@example.org> menulis:',
      'Pada 9 Mar 2026, pada 16.22, Jane Doe menulis:',
    ],
    headers: [
      'Dari: Jane\nDikirim: Senin\nKepada: Bob\nSubjek: rencana',
      'Dari: Jane\nTanggal: Senin\nUntuk: Bob\nPerihal: rencana',
    ],
  },
  it: {
    introductions: [
      'Il giorno lun 9 mar 2026 alle ore 16:22 Jane <jane@example.org> ha scritto:',
      'Il 09/03/26 16:22, Jane Doe ha scritto:',
    ],
    headers: [
      'Da: Jane\nInviato: lunedì\nA: Bob\nOggetto: piano',
      'Da: Jane\nData: lunedì\nA: Bob\nCc: Eve\nOggetto: piano',
    ],
  },
  ja: {
    introductions: ['2026年3月9日(月) 16:22 Jane <jane@example.org>:', '2026/03/09 16:22、Jane Doeのメール:'],
    headers: [
      '差出人: Jane\n送信日時: 月曜日\n宛先: Bob\n件名: 計画',
      '差出人：Jane\n日時：月曜日\n宛先：Bob\nCC：Eve\n件名：計画',
    ],
  },
  ko: {
    introductions: [
      '2026년 3월 9일 (월) 오후 4:22, Jane <jane@example.org>님이 작성:',
      '2026. 3. 9. 16:22에 Jane Doe 이(가) 썼습니다:',
    ],
    headers: [
      '보낸 사람: Jane\n보낸 날짜: 월요일\n받는 사람: Bob\n제목: 계획',
      '보낸 사람: Jane\n날짜: 월요일\n받는 사람: Bob\n참조: Eve\n제목: 계획',
    ],
  },
  lt: {
    introductions: ['2026-03-09, pr, 16:22 Jane <jane@example.org> rašė:', '2026-03-09 16:22, Jane Doe rašė:'],
    headers: [
      'Nuo: Jane\nIšsiųsta: pirmadienis\nKam: Bob\nTema: planas',
      'Nuo: Jane\nData: pirmadienis\nKam: Bob\nKopija: Eve\nTema: planas',
    ],
  },
  lv: {
    introductions: [
      'Pirmd., 2026. g. 9. marts, plkst. 16:22 — Jane (<jane@example.org>) rakstīja:',
      '09.03.2026 16:22, Jane Doe rakstīja:',
    ],
    headers: [
      'No: Jane\nNosūtīts: pirmdiena\nKam: Bob\nTēma: plāns',
      'No: Jane\nDatums: pirmdiena\nKam: Bob\nTemats: plāns',
    ],
  },
  nb: {
    introductions: [
      'man. 9. mars 2026 kl. 16:22 skrev Jane <jane@example.org>:',
      'Den 09.03.2026 16:22, skrev Jane Doe:',
    ],
    headers: [
      'Fra: Jane\nSendt: mandag\nTil: Bob\nEmne: plan',
      'Fra: Jane\nDato: mandag\nTil: Bob\nKopi: Eve\nEmne: plan',
    ],
  },
  nl: {
    introductions: [
      'Op ma 9 mrt 2026 om 16:22 schreef Jane <jane@example.org>:',
      'Op 09-03-2026 om 16:22 schreef Jane Doe:',
    ],
    headers: [
      'Van: Jane\nVerzonden: maandag\nAan: Bob\nOnderwerp: plan',
      'Van: Jane\nDatum: maandag\nAan: Bob\nCC: Eve\nOnderwerp: plan',
    ],
  },
  pl: {
    introductions: [
      'pon., 9 mar 2026 o 16:22 Jane <jane@example.org> napisał(a):',
      'W dniu 09.03.2026 o 16:22, Jane Doe pisze:',
    ],
    headers: [
      'Od: Jane\nWysłano: poniedziałek\nDo: Bob\nTemat: plan',
      'Od: Jane\nData: poniedziałek\nDo: Bob\nDW: Eve\nTemat: plan',
    ],
  },
  pt: {
    introductions: [
      'Em seg., 9 de mar. de 2026 às 16:22, Jane <jane@example.org> escreveu:',
      'Em 09/03/2026 16:22, Jane Doe escreveu:',
    ],
    headers: [
      'De: Jane\nEnviada em: segunda-feira\nPara: Bob\nAssunto: plano',
      'De: Jane\nEnviado: segunda-feira\nPara: Bob\nCc: Eve\nAssunto: plano',
    ],
  },
  ro: {
    introductions: [
      'În lun., 9 mar. 2026 la 16:22, Jane <jane@example.org> a scris:',
      'Pe 09.03.2026 16:22, Jane Doe a scris:',
    ],
    headers: [
      'De la: Jane\nTrimis: luni\nCătre: Bob\nSubiect: plan',
      'De la: Jane\nData: luni\nCătre: Bob\nCc: Eve\nSubiect: plan',
    ],
  },
  ru: {
    introductions: ['пн, 9 мар. 2026 г. в 16:22, Jane <jane@example.org>:', '09.03.2026 16:22, Jane Doe пишет:'],
    headers: [
      'От: Jane\nОтправлено: понедельник\nКому: Bob\nТема: план',
      'От: Jane\nДата: понедельник\nКому: Bob\nКопия: Eve\nТема: план',
    ],
  },
  sk: {
    introductions: [
      'po 9. 3. 2026 o 16:22 Jane <jane@example.org> napísal(a):',
      'Dňa 9. 3. 2026 o 16:22 Jane Doe napísal:',
    ],
    headers: [
      'Od: Jane\nOdoslané: pondelok\nKomu: Bob\nPredmet: plán',
      'Od: Jane\nDátum: pondelok\nKomu: Bob\nKópia: Eve\nPredmet: plán',
    ],
  },
  sl: {
    introductions: [
      'V V pon., 9. mar. 2026 ob 16:22 je oseba Jane <jane@example.org> napisala:',
      'Dne 9. 3. 2026 ob 16:22 je Jane Doe napisal:',
    ],
    headers: [
      'Od: Jane\nPoslano: ponedeljek\nZa: Bob\nZadeva: načrt',
      'Pošiljatelj: Jane\nDatum: ponedeljek\nPrejemnik: Bob\nKp: Eve\nZadeva: načrt',
    ],
  },
  sr: {
    introductions: [
      'пон, 9. мар 2026. у 16:22 Jane <jane@example.org> је написао/ла:',
      'Dana 9.3.2026. u 16:22, Jane Doe je napisao/la:',
    ],
    headers: [
      'Од: Jane\nПослато: понедељак\nЗа: Bob\nТема: план',
      'Od: Jane\nPoslato: ponedeljak\nZa: Bob\nTema: plan',
    ],
  },
  sv: {
    introductions: [
      'Den mån 9 mars 2026 kl 16:22 skrev Jane <jane@example.org>:',
      'Den 2026-03-09 kl. 16:22, skrev Jane Doe:',
    ],
    headers: [
      'Från: Jane\nSkickat: den 9 mars\nTill: Bob\nÄmne: plan',
      'Från: Jane\nDatum: måndag\nTill: Bob\nKopia: Eve\nÄmne: plan',
    ],
  },
  th: {
    introductions: [
      'ในวันที่ จ. 9 มี.ค. 2026 เวลา 16:22 Jane <jane@example.org> เขียนว่า:',
      'เมื่อ 9/3/2026 16:22 Jane Doe เขียน:',
    ],
    headers: ['จาก: Jane\nส่ง: วันจันทร์\nถึง: Bob\nเรื่อง: แผน', 'จาก: Jane\nวันที่: วันจันทร์\nถึง: Bob\nหัวเรื่อง: แผน'],
  },
  tr: {
    introductions: [
      'Jane <jane@example.org>, 9 Mar 2026 Pzt, 16:22 tarihinde şunu yazdı:',
      '9.03.2026 16:22 tarihinde Jane Doe yazdı:',
    ],
    headers: [
      'Gönderen: Jane\nGönderildi: Pazartesi\nKime: Bob\nKonu: plan',
      'Kimden: Jane\nTarih: Pazartesi\nKime: Bob\nBilgi: Eve\nKonu: plan',
    ],
  },
  uk: {
    introductions: ['пн, 9 бер. 2026 р. о 16:22 Jane <jane@example.org> пише:', '09.03.2026 16:22, Jane Doe написав:'],
    headers: [
      'Від: Jane\nНадіслано: понеділок\nКому: Bob\nТема: план',
      'Від: Jane\nДата: понеділок\nКому: Bob\nКопія: Eve\nТема: план',
    ],
  },
  vi: {
    introductions: [
      'Vào Th 2, 9 thg 3, 2026 vào lúc 16:22 Jane <jane@example.org> đã viết:',
      'Vào 9/3/2026 16:22, Jane Doe đã viết:',
    ],
    headers: [
      'Từ: Jane\nĐã gửi: Thứ Hai\nĐến: Bob\nChủ đề: kế hoạch',
      'Từ: Jane\nNgày: Thứ Hai\nTới: Bob\nCc: Eve\nTiêu đề: kế hoạch',
    ],
  },
  'zh-hans': {
    introductions: ['Jane <jane@example.org> 于2026年3月9日周一 16:22写道：', '在 2026/3/9 16:22, Jane Doe 写道:'],
    headers: [
      '发件人: Jane\n发送时间: 星期一\n收件人: Bob\n主题: 计划',
      '发件人：Jane\n日期：星期一\n收件人：Bob\n抄送：Eve\n主题：计划',
    ],
  },
  'zh-hant': {
    introductions: ['Jane <jane@example.org> 於 2026年3月9日 週一 下午4:22寫道：', 'Jane Doe 於 2026/3/9 16:22 寫道:'],
    headers: [
      '寄件者: Jane\n寄件日期: 星期一\n收件者: Bob\n主旨: 計畫',
      '寄件者：Jane\n日期：星期一\n收件者：Bob\n副本：Eve\n主旨：計畫',
    ],
  },
};

describe('withoutQuotes', () => {
  it.each([
    ['quoted lines', 'yes\n\n> do you agree?\n> Ann', 'yes'],
    [
      'an introduction that names the sender',
      'yes\n\nOn Mon, 1 Jan 2024 at 10:00, Ann <a@x.de> wrote:\n> agree?',
      'yes',
    ],
    [
      'an introduction split into two lines',
      'yes\n\nOn Mon, 1 Jan 2024 at 10:00, Ann Very-Long Name\n<a@x.de> wrote:\n> agree?',
      'yes',
    ],
    ['unmarked quotations', 'yes\n\nOn Monday, 1 Jan 2024, 10:00, Ann wrote:\n\nagree?\nAnn', 'yes'],
    ['German replies', 'ja\n\nAm 1.1.2024 um 10:00 schrieb Ann <a@x.de>:\n> gut?', 'ja'],
    ['French replies', 'oui\n\nLe lun. 1 janv. 2024 à 10:00, Ann a écrit :\n> bien ?', 'oui'],
    ['Spanish replies', 'vale\n\nEl lun, 1 ene 2024 a las 10:00, Ann (<a@x.de>) escribió:\n> bien', 'vale'],
    ['the headers copied by Outlook', 'yes\n\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: plans\n\nagree?', 'yes'],
    ["Outlook's separator line", 'yes\n\n-----Original Message-----\nFrom: Ann\nagree?', 'yes'],
    ["Outlook's horizontal rule", 'yes\n________________________________\nFrom: Ann\nSent: x\nagree?', 'yes'],
  ])('removes %s', (_, text, reply) => {
    expect(withoutQuotes(text).text).toBe(reply);
    expect(withoutQuotes(text.replaceAll('\n', '\r\n'))).toEqual({ text: reply, isCut: true, hasForward: false });
  });

  it.each([
    ['answers between quoted lines', 'On Monday, Ann wrote:\n> one?\nyes\n> two?\nno', 'yes\nno'],
    ['answers below', '> one?\n\nyes', 'yes'],
  ])('keeps %s', (_, text, reply) => {
    expect(withoutQuotes(text).text).toBe(reply);
  });

  it.each([
    'I am sure that Bob wrote: nothing at all.',
    'From: the heart',
    'a\n____________________________\nb',
    '> only a quotation',
    'On a sunny day:\nwe met.',
    'a -> b\n  c >= d',
    'On Monday the team wrote:\nwe ship.',
    'From: Berlin\nTo: Munich\nDate: 9 March 2026',
    'We meet on 9 March 2026 at 16:22:\nroom 5',
  ])('keeps %j', (text) => {
    expect(withoutQuotes(text)).toEqual({ text, isCut: false, hasForward: false });
  });

  it('takes time proportional to the length', async () => {
    for (const text of [
      'on x wrote '.repeat(3700),
      'on a wrote:\n'.repeat(3300),
      '> '.repeat(20_000),
      'From: x\n'.repeat(5000),
      `${'_'.repeat(20)}\n\n\n`.repeat(1700),
      'On 9 Mar 2026 at 16:22 <'.repeat(1600),
      'On 9 Mar 2026 at 16:22 a@b:\n'.repeat(1400),
      `${'[a@'.repeat(130)}:\n`.repeat(100),
    ]) {
      expect(await workMsOf(() => withoutQuotes(text), 100)).toBeLessThan(100);
    }
  });
});

describe.each(Object.entries(SAMPLES))('a reply in the language %s', (language, { introductions, headers }) => {
  it.each(introductions)('loses marked and unmarked quotations below %j', (introduction) => {
    const cut = { text: 'yes\nBob', isCut: true, hasForward: false };
    expect(withoutQuotes(`yes\nBob\n\n${introduction}\n\n> agree?\n> Jane`)).toEqual(cut);
    expect(withoutQuotes(`yes\nBob\n${introduction}\n\nagree?\n\nJane`)).toEqual(cut);
    expect(withoutQuotes(`${introduction}\n> agree?\n\nyes\nBob`)).toEqual(cut);
  });

  it('loses marked quotations below an introduction in two lines', () => {
    const [introduction] = introductions;
    const middle = introduction.indexOf(' ', introduction.length / 2);
    const wrapped = `${introduction.slice(0, middle)}\n${introduction.slice(middle + 1)}`;
    expect(withoutQuotes(`yes\n${wrapped}\n> agree?`).text).toBe('yes');
  });

  it.each(headers)('loses the email below %j', (block) => {
    expect(withoutQuotes(`yes\n\n${block}\n\nagree?`)).toEqual({ text: 'yes', isCut: true, hasForward: false });
    expect(withoutQuotes(`yes\n${'_'.repeat(32)}\n${block}\n\nagree?`).text).toBe('yes');
  });

  it('loses original messages and keeps forwarded ones', () => {
    const { original, forwarded } = QUOTE_WORDS[language as keyof typeof QUOTE_WORDS];
    for (const title of original.split('|')) {
      expect(withoutQuotes(`yes\n\n-----${title}-----\nagree?`)).toMatchObject({ text: 'yes', isCut: true });
    }
    for (const title of forwarded.split('|')) {
      for (const line of [`---------- ${title} ---------`, `${title}:`]) {
        const text = `see\n\n${line}\n\n> ${headers[0].replaceAll('\n', '\n> ')}\n\nagree?`;
        expect(withoutQuotes(text)).toEqual({ text, isCut: false, hasForward: true });
      }
    }
  });
});
