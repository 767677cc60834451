import { parseMail } from './mail-parsing.js';
import { textOfRichText } from './mail-rich-text.js';

const HEAD = 'From: Ann <ann@example.org>\r\nTo: chat@example.com\r\nSubject: plans\r\n';
const parse = (mail: string | Buffer) => parseMail(Buffer.from(mail as string));
const file = (type: string, content: string | Buffer) =>
  `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\n${typeof content === 'string' ? content : content.toString('base64')}\r\n`;
const namesOf = ({ attachments }: Awaited<ReturnType<typeof parseMail>>) => attachments.map(({ name }) => name);

/** Emails by `openssl cms -sign -nodetach` in DER and in BER, and by `openssl smime -encrypt`. */
const SIGNED =
  'MIICmQYJKoZIhvcNAQcCoIICijCCAoYCAQExDzANBglghkgBZQMEAgEFADCBtgYJKoZIhvcNAQcBoIGoBIGlQ29udGVudC1UeXBlOiBtdWx0aXBhcnQvbWl4ZWQ7IGJvdW5kYXJ5PWkNCg0KLS1pDQpDb250ZW50LVR5cGU6IHRleHQvcGxhaW47IGNoYXJzZXQ9dXRmLTgNCg0KR3LDvMOfZSwgc2lnbmVkDQotLWkNCkNvbnRlbnQtVHlwZTogdGV4dC9jc3Y7IG5hbWU9YS5jc3YNCg0KMSwyDQotLWktLQ0KMYIBtTCCAbECAQEwJDAMMQowCAYDVQQDDAFhAhR0/het/tCFnGWVHIb58C1IA2c7OzANBglghkgBZQMEAgEFAKCB5DAYBgkqhkiG9w0BCQMxCwYJKoZIhvcNAQcBMBwGCSqGSIb3DQEJBTEPFw0yNjExMzAxMjM5NDJaMC8GCSqGSIb3DQEJBDEiBCBZaNU3G/WuYQ+hOxAcDuOCahA/9ghoi1iP+tFrjKq8ZDB5BgkqhkiG9w0BCQ8xbDBqMAsGCWCGSAFlAwQBKjALBglghkgBZQMEARYwCwYJYIZIAWUDBAECMAoGCCqGSIb3DQMHMA4GCCqGSIb3DQMCAgIAgDANBggqhkiG9w0DAgIBQDAHBgUrDgMCBzANBggqhkiG9w0DAgIBKDANBgkqhkiG9w0BAQEFAASBgKq3THV5n+Zxreniq55T7w5RMHEo8RpGDPtp6m1N5WQ1pDpUCshSwlUJdL2N4S0d7ei/6n+ca9x+cCXK1h+FEUwxYNFfejfWqqDbH1r0Hux++5pNKwX7ziZVfibFBM35Sd5KvXV1Q7rU69m1TOrbXk55fJixsCT9M0llW8Llku7r';
const SIGNED_IN_CHUNKS =
  'MIAGCSqGSIb3DQEHAqCAMIACAQExDTALBglghkgBZQMEAgEwgAYJKoZIhvcNAQcBoIAkgASBpUNvbnRlbnQtVHlwZTogbXVsdGlwYXJ0L21peGVkOyBib3VuZGFyeT1pDQoNCi0taQ0KQ29udGVudC1UeXBlOiB0ZXh0L3BsYWluOyBjaGFyc2V0PXV0Zi04DQoNCkdyw7zDn2UsIHNpZ25lZA0KLS1pDQpDb250ZW50LVR5cGU6IHRleHQvY3N2OyBuYW1lPWEuY3N2DQoNCjEsMg0KLS1pLS0NCgAAAAAAADGCAbMwggGvAgEBMCQwDDEKMAgGA1UEAwwBYQIUdP4Xrf7QhZxllRyG+fAtSANnOzswCwYJYIZIAWUDBAIBoIHkMBgGCSqGSIb3DQEJAzELBgkqhkiG9w0BBwEwHAYJKoZIhvcNAQkFMQ8XDTI2MTEzMDEyMzk0MlowLwYJKoZIhvcNAQkEMSIEIFlo1Tcb9a5hD6E7EBwO44JqED/2CGiLWI/60WuMqrxkMHkGCSqGSIb3DQEJDzFsMGowCwYJYIZIAWUDBAEqMAsGCWCGSAFlAwQBFjALBglghkgBZQMEAQIwCgYIKoZIhvcNAwcwDgYIKoZIhvcNAwICAgCAMA0GCCqGSIb3DQMCAgFAMAcGBSsOAwIHMA0GCCqGSIb3DQMCAgEoMA0GCSqGSIb3DQEBAQUABIGAqrdMdXmf5nGt6eKrnlPvDlEwcSjxGkYM+2nqbU3lZDWkOlQKyFLCVQl0vY3hLR3t6L/qf5xr3H5wJcrWH4URTDFg0V96N9aqoNsfWvQe7H77mk0rBfvOJlV+JsUEzflJ3kq9dXVDutTr2bVM6tteTnl8mLGwJP0zSWVbwuWS7usAAAAAAAA=';
const ENCRYPTED =
  'MIIBpgYJKoZIhvcNAQcDoIIBlzCCAZMCAQAxgb4wgbsCAQAwJDAMMQowCAYDVQQDDAFhAhR0/het/tCFnGWVHIb58C1IA2c7OzANBgkqhkiG9w0BAQEFAASBgBjMLV0qGM+8xdFj718TKQLTA5EwUOd7s3KcMlCuD4fjsi9qC60hakcCjwiuiPH7uwzj+I/3T1fPCIJX2mDXbMO4FI5ty/PDNGRAyHXqdkbpR0UdeO8UIkNP+/aMwk3dHECkCC/hVaDYKiSr9z/5BArBVrA5/yNd9S5PCRLsH7q8MIHMBgkqhkiG9w0BBwEwFAYIKoZIhvcNAwcECOBs3SDL+vjBgIGoOC+Ii6ZkRGNOGxnJApIxY0nYzlnucVUsAs9kCqZodBraMQOizUonaLWZxlN00zm9oN+z7XuIri5yQzIi6TWiyRbcqLkSrIvln3k68Kn2RUMLMU+ydx6oKzVlJlDmZ+HiPNusdIAoxNiEEsS2Fw6LceTW4oFl9s7UjWsa6qQJHENXIzuATPf8Z2Q3w0id1MXvucCH4TCH77R4iDmtK2tR11hvXx773RYP';

describe('an email with S/MIME', () => {
  it.each([
    ['signed', SIGNED],
    ['signed while it was sent', SIGNED_IN_CHUNKS],
  ])('shows its text and keeps its files if it is %s', async (_, content) => {
    const email = await parse(HEAD + file('application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"', content));
    expect(email.text?.trim()).toBe('Grüße, signed');
    expect(email.sealedBy).toBeNull();
    expect(namesOf(email)).toEqual(['smime.p7m', 'a.csv']);
  });

  it('keeps the file and names the reason if it is encrypted or damaged', async () => {
    const damaged = Buffer.from(SIGNED_IN_CHUNKS, 'base64').subarray(0, 200);
    for (const content of [
      ENCRYPTED,
      damaged,
      Buffer.from('3080'.repeat(5000), 'hex'),
      Buffer.from('3084ffffffff', 'hex'),
      'AAAA',
    ]) {
      const email = await parse(HEAD + file('application/x-pkcs7-mime; name=smime.p7m', content));
      expect([email.text, email.sealedBy, namesOf(email)]).toEqual([null, 'smime', ['smime.p7m']]);
    }
  });

  it('is read up to five signatures deep', async () => {
    const octets = (bytes: Buffer) =>
      Buffer.concat([Buffer.from('04820000', 'hex'), bytes]).fill(
        Buffer.from([bytes.length >> 8, bytes.length & 255]),
        2,
        4,
      );
    const sign = (email: string): string => {
      const indefinite = (tag: string, ...parts: readonly Buffer[]) =>
        Buffer.concat([Buffer.from(`${tag}80`, 'hex'), ...parts, Buffer.alloc(2)]);
      const type = (last: string) => Buffer.from(`06092a864886f70d0107${last}`, 'hex');
      const content = indefinite('30', type('01'), indefinite('a0', octets(Buffer.from(email))));
      const signed = indefinite('30', Buffer.from('0201013100', 'hex'), content, Buffer.from('3100', 'hex'));
      return file('application/pkcs7-mime', indefinite('30', type('02'), indefinite('a0', signed)));
    };
    const levels = (count: number): string => (count === 0 ? '\r\nhello' : sign(levels(count - 1)));
    expect((await parse(HEAD + levels(5))).text).toBe('hello');
    expect(await parse(HEAD + levels(6))).toMatchObject({ text: null, sealedBy: 'smime' });
  });
});

it('names the reason for a missing text of an email that is encrypted with PGP, and keeps its files', async () => {
  const email = await parse(
    `${HEAD}Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n--b\r\n` +
      'Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\n' +
      'Content-Type: application/octet-stream; name=encrypted.asc\r\n\r\n-----BEGIN PGP MESSAGE-----\r\n--b--\r\n',
  );
  expect([email.text, email.sealedBy]).toEqual([null, 'pgp']);
  expect(namesOf(email)).toContain('encrypted.asc');
});

describe('winmail.dat', () => {
  const number = (value: number, length = 4): Buffer => {
    const bytes = Buffer.alloc(length);
    bytes.writeUIntLE(value, 0, length);
    return bytes;
  };
  const attribute = (id: number, data: Buffer) =>
    Buffer.concat([number(1, 1), number(id), number(data.length), data, number(0, 2)]);
  const property = (id: number, type: number, data: Buffer) =>
    Buffer.concat([
      number(type, 2),
      number(id, 2),
      number(1),
      number(data.length),
      data,
      Buffer.alloc((4 - (data.length % 4)) % 4),
    ]);
  const properties = (id: number, ...all: readonly Buffer[]) =>
    attribute(id, Buffer.concat([number(all.length), ...all]));
  const tnef = (...attributes: readonly Buffer[]) => Buffer.concat([number(0x223e9f78), number(1, 2), ...attributes]);
  const named = (id: number, name: string) =>
    Buffer.concat([
      number(3, 2),
      number(id, 2),
      Buffer.alloc(16),
      number(1),
      number(2 * name.length),
      Buffer.from(name, 'utf16le'),
      Buffer.alloc((4 - ((2 * name.length) % 4)) % 4),
      number(7),
    ]);
  const MESSAGE = 0x00069003;
  const ATTACHMENT = [
    attribute(0x00069002, Buffer.alloc(14)),
    attribute(0x00018010, Buffer.from('SHORT~1.PNG\0')),
    attribute(0x0006800f, Buffer.from('bytes')),
  ];
  const wide = (text: string) => Buffer.from(`${text}\0`, 'utf16le');
  const richText = (content: string) =>
    Buffer.concat([number(0), number(0), Buffer.from('MELA'), number(0), Buffer.from(`{\\rtf1 ${content}}`, 'latin1')]);
  const HELLO_WORLD = Buffer.from(
    '2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232' + '0af32068656c090020627705b06c647d0a800fa0',
    'hex',
  );
  const receive = (content: Buffer, text = '') =>
    parse(
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${text && `--b\r\n\r\n${text}\r\n`}--b\r\n${file('application/ms-tnef; name=winmail.dat', content)}--b--\r\n`,
    );
  it.each<readonly [string, Buffer, string]>([
    ['in the old form', attribute(0x0002800c, Buffer.from('Gr\xfc\xdfe\0', 'latin1')), 'Grüße'],
    ['as a property', properties(MESSAGE, named(0x8001, 'abc'), property(0x1000, 0x1f, wide('Grüße'))), 'Grüße'],
    [
      'as a property in an old charset',
      properties(MESSAGE, property(0x1000, 0x1e, Buffer.from('Gr\xfc\xdfe\0', 'latin1'))),
      'Grüße',
    ],
    ['as HTML', properties(MESSAGE, property(0x1013, 0x102, Buffer.from('<p>Gr&uuml;&szlig;e</p>'))), 'Grüße'],
    [
      'as rich text',
      properties(MESSAGE, property(0x1000, 0x1f, wide('')), property(0x1009, 0x102, richText("Gr\\'fc\\'dfe"))),
      'Grüße',
    ],
    // The example of MS-OXRTFCP, section 4.1.
    ['as compressed rich text', properties(MESSAGE, property(0x1009, 0x102, HELLO_WORLD)), 'hello world'],
  ])('shows a text %s', async (_, content, expected) => {
    const email = await receive(tnef(content));
    expect((email.text ?? email.html?.all)?.trim()).toBe(expected);
    expect([email.sealedBy, namesOf(email)]).toEqual([null, ['winmail.dat']]);
  });

  it.each([
    [
      'paragraphs, tabs and symbols',
      'one\\par two\\tab \\{three\\}\\~\\emdash four\r\n five',
      'one\ntwo\t{three}\xa0—four five',
    ],
    [
      'no fonts, pictures, or groups for other programs',
      '{\\fonttbl{\\f0 Arial;}}{\\*\\htmltag64 <p>}{\\pict ffd8}\\htmlrtf {\\b one}\\htmlrtf0  {\\*\\x {\\b y}}two',
      'one two',
    ],
    [
      'Unicode characters without their replacements',
      "\\uc1 \\u8364?1 \\u-10179?\\u-8694?{\\uc2 \\u946\\'a6\\'c1x}",
      '€1 😊βx',
    ],
    ['Cyrillic', "\\ansicpg1251 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2", 'Привет'],
    ['Japanese', "\\ansicpg932 \\'93\\'fa\\'96\\'7b", '日本'],
    ['an unknown code page', "\\ansicpg7 caf\\'e9", 'café'],
    ['unbalanced braces', 'one}}} two{{', 'one two'],
  ])('shows rich text with %s', async (_, content, expected) => {
    const email = await receive(tnef(properties(MESSAGE, property(0x1009, 0x102, richText(content)))));
    expect(email.text?.trim()).toBe(expected);
  });

  it('decompresses at most a million bytes of rich text', () => {
    // Eight references that repeat 16 bytes each.
    const references = Buffer.from([0xff, ...Array.from({ length: 8 }, () => [0x0d, 0x0e]).flat()]);
    const parts = [number(0), number(0), Buffer.from('LZFu'), number(0), number(0, 1), Buffer.from('{\\rtf1 a')];
    const file = Buffer.concat([...parts, ...Array.from({ length: 100_000 }, () => references)]);
    const { length } = textOfRichText(file);
    // Each repetition has a letter.
    expect(length).toBeGreaterThan(1_000_000 / 16);
    expect(length).toBeLessThan(1_000_000);
  });

  it('shows its attachments, but no second text', async () => {
    const names = properties(0x00069005, property(0x3707, 0x1f, wide('Grüße "1".png')));
    const content = tnef(attribute(0x0002800c, Buffer.from('again\0')), ...ATTACHMENT, names, ...ATTACHMENT);
    const email = await receive(content, 'hello');
    expect(email.text).toBe('hello');
    expect(email.attachments.slice(1).map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
      ['Grüße 1.png', 'bytes'],
      ['SHORT~1.PNG', 'bytes'],
    ]);
  });

  it('is only a file if it is damaged', async () => {
    const whole = tnef(properties(MESSAGE, named(0x8001, 'abc'), property(0x1000, 0x1f, wide('hello'))), ...ATTACHMENT);
    for (let length = 0; length < whole.length; length += 3) {
      const email = await receive(whole.subarray(0, length));
      expect([email.sealedBy, email.text].includes(email.sealedBy === null ? 'hello' : 'tnef')).toBe(true);
    }
    const endless = tnef(
      attribute(MESSAGE, Buffer.concat([number(0xffffffff), number(0x101e, 2), number(0x1000, 2), number(0xffffffff)])),
    );
    expect(await receive(endless)).toMatchObject({ sealedBy: 'tnef', text: null });
  });
});

describe('a malformed email', () => {
  it.each([
    ['no empty line below its fields', `${HEAD}hello there\r\nsee you`, 'hello there\r\nsee you'],
    [
      'no empty line, but paragraphs',
      `${HEAD}hello there\r\nNote: x\r\n\r\nsee you`,
      'hello there\r\nNote: x\r\n\r\nsee you',
    ],
    ['no fields', 'hello there\r\n\r\nsee you', 'hello there\r\n\r\nsee you'],
    ['a field that is folded wrongly', `${HEAD}X-List: a\r\nb c\r\nContent-Type: text/plain\r\n\r\nhello`, 'hello'],
    ['a line of a mailbox above', `From ann@example.org Mon Mar  9 16:22:00 2026\r\n${HEAD}\r\nhello`, 'hello'],
    [
      'a part without fields',
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nhello\r\n\r\nNote: x\r\n--b--\r\n`,
      'hello\r\n\r\nNote: x',
    ],
  ])('is shown with %s', async (_, raw, expected) => {
    const email = await parse(raw);
    expect([email.text, email.attachments]).toEqual([expected, []]);
  });

  it.each([
    ['text/plain; name=a.gif', 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'a.gif'],
    ['text/html', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'attachment.bin'],
    ['', '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgM=', 'attachment.bin'],
  ])('has a file and no letters of it if the file is declared as %j', async (type, content, name) => {
    const email = await parse(`${HEAD}Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${content}`);
    expect([email.text, email.html, namesOf(email)]).toEqual([null, null, [name]]);
    const body = Buffer.concat([Buffer.from(`${HEAD}Content-Type: ${type}\r\n\r\n`), Buffer.from(content, 'base64')]);
    expect(await parse(body)).toMatchObject({ text: null, html: null, attachments: [{ name }] });
  });

  it('shows UTF-16 and texts with a stray control character', async () => {
    const utf16 = Buffer.from('\ufeffhello there', 'utf16le');
    const email = await parse(
      Buffer.concat([Buffer.from(`${HEAD}Content-Type: text/plain; charset=utf-16\r\n\r\n`), utf16]),
    );
    expect(email.text).toContain('hello there');
    expect((await parse(`${HEAD}\r\na\0b\x01`)).text).toBe('ab');
  });
});

describe('HTML replies of Outlook', () => {
  const html = async (content: string) => (await parse(`${HEAD}Content-Type: text/html\r\n\r\n${content}`)).html!;
  const old = '<b>Fra:</b> Bo<br><b>Ukendt:</b> x</font><div> </div></div><div>old words</div>';

  it.each([
    ['Outlook.com', `<hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr"><font>${old}`],
    ['Outlook on the web', `<div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><font>${old}`],
    ['Outlook for phones', `<div id="mail-editor-reference-message-container"><hr><div><font>${old}</div>`],
    [
      'Outlook for Windows',
      `<div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in"><font>${old}</div>`,
    ],
  ])('lose the email below in any language: %s', async (_, quote) => {
    const { reply, all } = await html(`<html><body><div>yes</div>${quote}</body></html>`);
    expect(reply.trim()).toBe('yes');
    expect(all).toContain('old words');
  });
});
