import { MailParser } from './mail-gateway.js';

const text = (charset: string, bytes: string): Buffer =>
  Buffer.concat([
    Buffer.from(`From: a@b.de\r\nSubject: =?${charset}?q?${quoted(bytes)}?=\r\n`),
    Buffer.from(`Content-Type: text/plain; charset="${charset}"\r\n\r\n`),
    Buffer.from(bytes, 'hex'),
  ]);
const quoted = (hex: string): string => hex.replace(/../g, '=$&');

/** Labels that mail programs and mailparser use, by the bytes of a text and the text. */
const CHARSETS: readonly (readonly [labels: string, bytes: string, text: string])[] = [
  ['utf-8 utf8 unicode-1-1-utf-8', 'e282ac20e2809cc3a9e2809d', '€ “é”'],
  [
    'windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 l1 csisolatin1 cp819 ibm819 us-ascii ascii ansi_x3.4-1968 WINDOWS-1252 klingon',
    '802080829193949697858e9fe9ff',
    '€ €‚‘“”–—…ŽŸéÿ',
  ],
  ['windows-1250 cp1250 x-cp1250', '80208ab9e8939496', '€ Šąč“”–'],
  ['windows-1251 cp1251 x-cp1251', 'cff0e8e2e5f22096209388949988', 'Привет – “€”™€'],
  ['windows-1253 cp1253 x-cp1253', '80c3e5e9dc', '€Γειά'],
  ['windows-1254 cp1254 iso-8859-9 iso8859-9 iso_8859-9:1989 latin5 l5 csisolatin5', '80fdf0fe93', '€ığş“'],
  ['windows-1255 cp1255 x-cp1255', '80f9ece5ed93', '€שלום“'],
  ['windows-1256 cp1256 x-cp1256', '80d3e1c7e393', '€سلام“'],
  ['windows-1257 cp1257 x-cp1257', '80e0e8e693', '€ąčę“'],
  ['windows-1258 cp1258 x-cp1258', '80d5f593', '€Ơơ“'],
  ['windows-874 dos-874 tis-620 iso-8859-11 iso8859-11', '80cac7d1cab4d593', '€สวัสดี“'],
  ['iso-8859-2 iso8859-2 iso_8859-2:1987 latin2 l2 csisolatin2', 'a9b1e8', 'Šąč'],
  ['iso-8859-3 iso8859-3 latin3', 'a6b1f8', 'Ĥħĝ'],
  ['iso-8859-4 iso8859-4 latin4', 'a9b1e8', 'Šąč'],
  ['iso-8859-5 iso8859-5 cyrillic csisolatincyrillic', 'bfe0d8d2d5e2', 'Привет'],
  ['iso-8859-6 iso8859-6 arabic asmo-708', 'd3e4c7e5', 'سلام'],
  ['iso-8859-7 iso8859-7 greek elot_928', 'a4c3e5e9dc', '€Γειά'],
  ['iso-8859-8 iso8859-8 hebrew visual iso-8859-8-i', 'f9ece5ed', 'שלום'],
  ['iso-8859-10 iso8859-10 latin6', 'aab1e8', 'Šąč'],
  ['iso-8859-13 iso8859-13', 'd0e0e8b4', 'Šąč“'],
  ['iso-8859-14 iso8859-14', 'd0f0a3', 'Ŵŵ£'],
  ['iso-8859-15 iso8859-15 l9 csisolatin9', 'a4a6bce9', '€ŠŒé'],
  ['iso-8859-16', 'a4aabafee3b5ab', '€Șșță”«'],
  ['koi8-r koi8_r koi cskoi8r', 'f0d2c9d7c5d4', 'Привет'],
  ['koi8-u koi8-ru', 'b6a4', 'Іє'],
  ['ibm866 cp866 866', '8fe0a8a2a5e2', 'Привет'],
  ['macintosh mac x-mac-roman', 'dbd28ed3', '€“é”'],
  ['gbk gb2312 gb_2312-80 x-gbk chinese', 'c4e3bac380', '你好€'],
  ['gb18030', 'c4e3bac3a2e3', '你好€'],
  ['big5 big5-hkscs cn-big5 x-x-big5', 'a741a66e', '你好'],
  ['euc-jp x-euc-jp', 'a4b3a4f3', 'こん'],
  ['shift_jis shift-jis sjis ms_kanji windows-31j x-sjis', '82b182f1', 'こん'],
  ['iso-2022-jp csiso2022jp', '1b2442243324731b2842', 'こん'],
  ['euc-kr ks_c_5601-1987 ksc5601 windows-949 korean', 'bec8b3e7', '안녕'],
];

describe('charset of an incoming email', () => {
  it.each(CHARSETS)('decodes the text and subject: %s', async (labels, bytes, expected) => {
    const parser = new MailParser();
    for (const label of labels.split(' ')) {
      const email = await parser.parse(text(label, bytes));
      expect([label, email.text?.trim(), email.subject]).toEqual([label, expected, expected]);
    }
  });
});
