import { parseMail } from './mail-parsing.js';

const HEAD = 'From: Ann <ann@example.org>\r\nTo: chat@example.com\r\nSubject: plans\r\n';
const parse = (mail: string | Buffer) => parseMail(Buffer.from(mail as string));
const mail = (fields: string, body = '') => parse(`${HEAD}${fields}\r\n\r\n${body}`);
const multipart = (kind: string, ...parts: readonly string[]) =>
  mail(
    `Content-Type: multipart/${kind}; boundary="b"`,
    `preamble\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`,
  );
const filesOf = ({ attachments }: Awaited<ReturnType<typeof parseMail>>) =>
  attachments.map(({ name, contentType, bytes }) => [name, contentType, Buffer.from(bytes).toString()]);

const FORWARDED = 'From: b@example.org\r\nSubject: =?utf-8?q?B=C3=BCcher=2Fx?=\r\n\r\ninner text';
const CALENDAR =
  'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Planning\r\nLOCATION:Room 5\r\nDTSTART:20260101T100000Z\r\n' +
  'DTEND:20260101T110000Z\r\nORGANIZER:mailto:ann@example.org\r\nEND:VEVENT\r\nEND:VCALENDAR';

describe('attachments of an incoming email', () => {
  it.each([
    ['Content-Type: image/png', 'image.png'],
    ['Content-Type: audio/wav\r\nContent-Disposition: inline', 'audio.wav'],
    ['Content-Type: application/pdf\r\nContent-Disposition: attachment', 'attachment.pdf'],
    ['Content-Type: application/json', 'attachment.json'],
    ['Content-Type: text/csv', 'attachment.csv'],
    ['Content-Type: application/x-unknown', 'attachment.bin'],
    ['Content-Type: message/delivery-status', 'attachment.txt'],
    ['Content-Type: text/plain\r\nContent-Disposition: attachment', 'attachment.txt'],
    ['Content-Type: image/png; name="a.png"', 'a.png'],
    ["Content-Type: image/png\r\nContent-Disposition: attachment; filename*=utf-8''%C3%A4.png", 'ä.png'],
  ])('have a name by their type if they lack one: %j', async (fields, name) => {
    const email = await multipart('mixed', '\r\nhello', `${fields}\r\n\r\nbytes`);
    expect(email.text).toBe('hello');
    expect(filesOf(email).map(([found, , content]) => [found, content])).toEqual([[name, 'bytes']]);
  });

  it('include forwarded emails as files that are named by their subject', async () => {
    for (const disposition of ['', 'Content-Disposition: inline\r\n']) {
      const email = await multipart(
        'mixed',
        '\r\nsee',
        `Content-Type: message/rfc822\r\n${disposition}\r\n${FORWARDED}`,
      );
      expect(filesOf(email)).toEqual([['Bücher x.eml', 'message/rfc822', FORWARDED]]);
    }
    expect(filesOf(await multipart('digest', `\r\n${FORWARDED}`, `\r\n${FORWARDED}`))).toHaveLength(2);
    expect(filesOf(await mail('Content-Type: message/rfc822', FORWARDED))).toEqual([
      ['Bücher x.eml', 'message/rfc822', FORWARDED],
    ]);
  });

  it('beyond the maximum number are named', async () => {
    const part = (n: number) => `Content-Type: image/png; name="${n}.png"\r\n\r\nbytes`;
    const email = await multipart('mixed', '\r\nhello', ...Array.from({ length: 35 }, (_, n) => part(n)));
    expect(email.attachments).toHaveLength(20);
    expect(email.omitted).toEqual({ count: 15, names: Array.from({ length: 10 }, (_, n) => `${n + 20}.png`) });
  });

  it('have names of limited length with their extension', async () => {
    const email = await multipart('mixed', `Content-Type: image/png; name="${'x'.repeat(300)}.png"\r\n\r\nbytes`);
    expect(email.attachments[0]!.name).toBe(`${'x'.repeat(96)}.png`);
  });

  it('include calendars, with what, when and where as text', async () => {
    const calendar = `Content-Type: text/calendar; method=REQUEST\r\n\r\n${CALENDAR}`;
    const email = await mail(
      'Content-Type: multipart/mixed; boundary="b"',
      `--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\r\nhello\r\n--c\r\nContent-Type: text/html\r\n\r\n<b>hello</b>\r\n` +
        `--c\r\n${calendar}\r\n--c--\r\n--b\r\nContent-Type: text/calendar; name=invite.ics\r\n\r\n${CALENDAR}\r\n--b--\r\n`,
    );
    expect(email.invitations).toEqual([
      {
        kind: 'invitation',
        summary: 'Planning',
        start: 1_767_261_600,
        end: 1_767_265_200,
        location: 'Room 5',
        organizer: 'ann@example.org',
      },
    ]);
    expect(email.attachments.map(({ name }) => name)).toEqual(['invitation.ics']);
    expect(email.text).toBe('hello');
  });

  it('keep calendars that cannot be read', async () => {
    for (const content of [
      'BEGIN:VCALENDAR',
      'junk',
      'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:junk\r\nEND:VEVENT\r\nEND:VCALENDAR',
    ]) {
      const email = await mail('Content-Type: text/calendar', content);
      expect([email.invitations.length, filesOf(email)[0]![2]]).toEqual([0, content]);
      expect(email.unreadCalendars).toEqual(['invitation.ics']);
    }
  });
});

describe('text of an incoming email', () => {
  it.each([
    'text; charset=utf-8',
    'plain',
    'text/',
    'charset=utf-8',
    '',
    'text/plain; charset',
    ';',
    '"text/plain"',
    'multipart/mixed',
  ])('is plain text if the type is %j', async (type) => {
    expect((await mail(`Content-Type: ${type}`, 'h\u00e9llo')).text?.trim()).toBe('h\u00e9llo');
    expect((await multipart('mixed', `Content-Type: ${type}\r\n\r\nh\u00e9llo`)).text?.trim()).toBe('h\u00e9llo');
  });

  it('may be Markdown or enriched text', async () => {
    expect((await mail('Content-Type: text/markdown', '# plans')).text?.trim()).toBe('# plans');
    const enriched = '<bold>Now</bold> is <color><param>red</param>the time</color> <<here';
    expect((await mail('Content-Type: text/enriched', enriched)).text?.trim()).toBe('Now is the time <here');
  });

  it.each([
    ['hello world, all of you', 'hello world, all of you'],
    ['hello', 'hello'],
    [Buffer.from('hello world').toString('base64'), 'hello world'],
    [`${Buffer.from('hello world').toString('base64')}\r\n____\r\na list`, 'hello world'],
  ])('is decoded only if it is Base64: %j', async (body, expected) => {
    const { text } = await mail('Content-Transfer-Encoding: base64', body);
    expect(text).toMatch(new RegExp(`^${expected}`));
    expect(text).not.toMatch(/(?![\n\r\t])\p{Cc}/u);
  });

  it('joins the texts of all parts, each once', async () => {
    const email = await multipart('mixed', '\r\none', 'Content-Type: text/html\r\n\r\n<b>two</b>', '\r\nthree');
    expect(email.text).toBe('one\ntwo\nthree');
    expect(email.html?.all).toBe('one\ntwo\nthree');
  });

  it('is found behind a wrong or missing boundary', async () => {
    const body =
      '--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x\r\nContent-Type: image/png\r\n\r\nbytes\r\n--x--\r\n';
    for (const type of ['multipart/mixed; boundary=y', 'multipart/mixed']) {
      const email = await mail(`Content-Type: ${type}`, body);
      expect([email.text, filesOf(email)]).toEqual(['hello', [['image.png', 'image/png', 'bytes']]]);
    }
  });
});

describe('HTML of an incoming email', () => {
  const html = async (content: string) => (await mail('Content-Type: text/html', content)).html!.all;

  it('shows tables of data as Markdown tables', async () => {
    const table =
      '<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tr><td>CPU</td><td>93|94</td></tr><tr><td>Disk</td><td></td></tr></table>';
    expect(await html(`<p>Report</p>${table}end`)).toBe(
      'Report\n\n| Name | Value |\n| --- | --- |\n| CPU | 93&#124;94 |\n| Disk |  |\n\nend',
    );
  });

  it('shows other tables as lines', async () => {
    expect(await html('<table><tr><td>Name</td><td></td><td>Value</td></tr></table>')).toBe('Name | Value');
    expect(await html('<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr><tr><td>d</td></tr></table>')).toBe(
      'a\n\nb\nc\nd',
    );
    expect(await html('<table><caption>Title</caption>loose<tr>text<td>cell</td></tr></table>')).toBe(
      'Title\nloose\ntext | cell',
    );
  });

  it('shows the texts of images', async () => {
    expect(await html('see <img src="a.png" alt="the chart"> and <img src="b.png">.')).toBe('see the chart and .');
  });

  it('shows text behind long styles, and says that the rest of long HTML is missing', async () => {
    expect(
      await html(
        `<style>${'p{} '.repeat(200_000)}</style><img src="data:image/png;base64,${'A'.repeat(400_000)}">hello`,
      ),
    ).toBe('hello');
    expect(
      (await mail('Content-Type: text/html', `<p>${'a'.repeat(30_000)}</p>${'<br>'.repeat(80_000)}`)).html!.all,
    ).toMatch(/too long\.\)$/);
  });
});

describe('charset of an incoming email', () => {
  const text = (fields: string, body: Buffer) => parse(Buffer.concat([Buffer.from(`${HEAD}${fields}\r\n\r\n`), body]));
  const latin1 = Buffer.from('Grüße', 'latin1');
  const utf8 = Buffer.from('Grüße');
  const type = (charset: string) => `Content-Type: text/plain; charset="${charset}"`;

  it.each<readonly [string, string, Buffer]>([
    ['Latin-1 without a declaration', 'X: y', latin1],
    ['Latin-1 declared as UTF-8', type('utf-8'), latin1],
    ['Latin-1 declared as ASCII', type('us-ascii'), latin1],
    ...['us-ascii', 'iso-8859-1', 'windows-1252', 'unknown-8bit', 'iso-8859-2', 'klingon'].map(
      (charset) => [`UTF-8 declared as ${charset}`, type(charset), utf8] as const,
    ),
    ['UTF-8 without a declaration', 'X: y', utf8],
  ])('is found by its bytes: %s', async (_, fields, body) => {
    expect((await text(fields, body)).text?.trim()).toBe('Grüße');
  });

  it('may be an undeclared ISO-2022-JP', async () => {
    const body = Buffer.from('1b2442243324731b2842', 'hex');
    for (const fields of ['X: y', type('us-ascii'), type('utf-8')]) {
      expect((await text(fields, body)).text?.trim()).toBe('こん');
    }
  });

  it('may be in a meta element only', async () => {
    const body = Buffer.concat([
      Buffer.from('<html><head><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"></head>'),
      Buffer.from('cff0e8e2e5f2', 'hex'),
    ]);
    expect((await text('Content-Type: text/html', body)).html?.all).toBe('Привет');
  });

  it('remains the declared one for a short text that could also be UTF-8', async () => {
    expect((await text(type('gb2312'), Buffer.from('cda8d6aa', 'hex'))).text?.trim()).toBe('通知');
    expect((await text(type('gb2312'), Buffer.from('通知'))).text?.trim()).toBe('通知');
  });

  it('is UTF-8 for a damaged text', async () => {
    const body = Buffer.concat([utf8, Buffer.from([0xff]), utf8]);
    expect((await text(type('utf-8'), body)).text?.trim()).toBe('Grüße\ufffdGrüße');
  });

  it('is found by its bytes for an unencoded subject and file name', async () => {
    const raw = 'Subject: Grüße\r\nContent-Type: image/png; name="Grüße.png"\r\n\r\nbytes';
    for (const encoding of ['latin1', 'utf8'] as const) {
      const email = await parse(Buffer.from(raw, encoding));
      expect([email.subject, email.attachments[0]!.name]).toEqual(['Grüße', 'Grüße.png']);
    }
  });

  it('applies to flowed text too', async () => {
    const body = Buffer.concat([latin1, Buffer.from(' \r\nnext')]);
    expect((await text('Content-Type: text/plain; charset=iso-8859-1; format=flowed', body)).text?.trim()).toBe(
      'Grüße next',
    );
  });
});

it('recognizes read receipts', async () => {
  const receipt = await multipart(
    'report; report-type=disposition-notification',
    '\r\nread',
    'Content-Type: message/disposition-notification\r\n\r\nx',
  );
  expect(receipt.isReadReceipt).toBe(true);
  expect((await mail('X: y', 'hello')).isReadReceipt).toBe(false);
});

it.each([
  ['too many parts', `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(10_001)}`],
  [
    'too many levels',
    `${Array.from({ length: 30 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}.\r\n\r\n--b${n}.\r\n`).join('')}\r\nx`,
  ],
  ['too many headers', `X: ${'x'.repeat(300_000)}\r\n\r\nx`],
])('rejects an email with %s', async (_, raw) => {
  await expect(parse(raw)).rejects.toThrow();
});
