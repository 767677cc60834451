/** Part of a generated email. Each leaf contains a marker by which its content is found. */
interface Part {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: string | readonly Part[];
  /** Remains the same if the field that declares it is wrong. */
  readonly boundary: string;
}

const leaf = (type: string, content: string, ...fields: Part['fields'][number][]): Part => ({
  fields: [['Content-Type', type], ...fields],
  content,
  boundary: '',
});
const multipart = (kind: string, boundary: string, ...content: readonly Part[]): Part => ({
  fields: [['Content-Type', `multipart/${kind}; boundary="${boundary}"`]],
  content,
  boundary,
});
const emailOf = ({ fields, ...part }: Part): Part => ({
  fields: [
    ['From', 'Ann <ann@example.org>'],
    ['To', 'chat@example.com'],
    ['Subject', 'plans'],
    ['Date', 'Fri, 27 Nov 2026 10:00:00 +0000'],
    ['MIME-Version', '1.0'],
    ...fields,
  ],
  ...part,
});

/** Markers begin with `MARK`; representations of the same text share one. */
const TEXT = leaf('text/plain; charset=utf-8', 'MARKtext is here', ['Content-Transfer-Encoding', '7bit']);
const HTML = leaf('text/html; charset=utf-8', '<p>MARKtext is =\r\nhere</p>', [
  'Content-Transfer-Encoding',
  'quoted-printable',
]);
const FILE = leaf(
  'image/png; name="a.png"',
  Buffer.from('MARKfile of some bytes!!').toString('base64'),
  ['Content-Transfer-Encoding', 'base64'],
  ['Content-Disposition', 'attachment; filename="a.png"'],
);
const FORWARDED = leaf('message/rfc822', 'Subject: inner\r\n\r\nMARKinner is here', ['Content-Disposition', 'inline']);
const CALENDAR = leaf('text/calendar; method=REQUEST', 'BEGIN:VCALENDAR\r\nX-A:MARKcalendar x\r\nEND:VCALENDAR');
const REPORT = leaf('message/delivery-status', 'Action: failed\r\nX-A: MARKreport x');

/** Emails of every shape that mail programs send. */
const EMAILS: readonly Part[] = [
  TEXT,
  HTML,
  FILE,
  multipart('alternative', 'outer', TEXT, HTML),
  multipart(
    'mixed',
    'outer',
    multipart('alternative', 'middle', TEXT, multipart('related', 'inner', HTML, FILE)),
    FORWARDED,
  ),
  multipart('digest', 'outer', { ...FORWARDED, fields: [] }),
  multipart('report; report-type=delivery-status', 'outer', TEXT, REPORT, FORWARDED),
  multipart('mixed', 'outer', multipart('alternative', 'middle', TEXT, CALENDAR), FILE),
].map(emailOf);

const ANY = [
  '',
  ' ',
  ';',
  '"',
  '(',
  '\u0000',
  'Ünï',
  '=?utf-8?q?=ff',
  '=?x?y?z?=',
  `${'x'.repeat(3000)}`,
  ','.repeat(1000),
];
const WRONG: Readonly<Record<string, readonly string[]>> = {
  'Content-Type': [
    ...['text', 'plain', 'text/', 'charset=utf-8', '/', 'text/plain; charset=klingon', 'text/plain; charset=utf-16'],
    ...['text/html', 'image/png', 'message/rfc822', 'application/json', 'text/csv', 'text/calendar'],
    ...['multipart/mixed', 'multipart/mixed; boundary=other', 'multipart/alternative; boundary=""', 'multipart/digest'],
  ],
  'Content-Transfer-Encoding': ['base64', 'quoted-printable', '8bit', 'x-other'],
  'Content-Disposition': [
    'inline',
    'attachment',
    'attachment; filename=',
    'attachment; filename="../x"',
    'inline; filename=x.html',
  ],
};

/** Returns the part with one field absent, doubled or wrong, or with one part absent, doubled or empty. */
function* changed(part: Part): Generator<Part> {
  for (const [at, [name, value]] of part.fields.entries()) {
    const replace = (...fields: Part['fields'][number][]): Part => ({
      ...part,
      fields: [...part.fields.slice(0, at), ...fields, ...part.fields.slice(at + 1)],
    });
    yield replace();
    yield replace([name, value], [name, value]);
    for (const wrong of [...ANY, ...(WRONG[name] ?? [])]) {
      yield replace([name, wrong]);
      yield replace([name, value], [name, wrong]);
    }
  }
  if (typeof part.content === 'string') {
    yield { ...part, content: '' };
    return;
  }
  for (const [at, child] of part.content.entries()) {
    const replace = (...children: readonly Part[]): Part => ({
      ...part,
      content: [...(part.content.slice(0, at) as Part[]), ...children, ...(part.content.slice(at + 1) as Part[])],
    });
    yield replace();
    yield replace(child, child);
    for (const each of changed(child)) yield replace(each);
  }
}

function textOf({ fields, content, boundary }: Part): string {
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  if (typeof content === 'string') return `${head}\r\n${content}`;
  return `${head}\r\n${content.map((part) => `--${boundary}\r\n${textOf(part)}\r\n`).join('')}--${boundary}--\r\n`;
}

/** Generates emails with one fault; `faults: 2`: with two. Keeps every `stride`th email. */
export function* generateMails({
  faults,
  stride,
}: {
  readonly faults: 1 | 2;
  readonly stride: number;
}): Generator<string> {
  let count = 0;
  for (const email of EMAILS) {
    for (const one of changed(email)) {
      for (const mail of faults === 1 ? [one] : changed(one)) if (count++ % stride === 0) yield textOf(mail);
    }
  }
}

/** Returns the markers of an email, each as it stands there and decoded. */
export function markersIn(mail: string): readonly (readonly string[])[] {
  const encoded = FILE.content as string;
  return [...new Set(mail.match(/MARK\w+/g) ?? []), ...(mail.includes(encoded) ? [encoded] : [])].map((marker) =>
    marker === encoded ? [encoded, 'MARKfile'] : [marker],
  );
}
