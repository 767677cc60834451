import {
  bodyOf,
  bounceAddress,
  composeContent,
  fateOf,
  fromLine,
  type IncomingEmail,
  invitationText,
  isForwarded,
  NO_EMAIL_OPTIONS,
  NO_SUBJECT,
  omittedLine,
  parseIncomingAddress,
  replyAddress,
  topicOfSubject,
  unreadCalendarsLine,
  withoutFooter,
} from './incoming-email.js';

const PATTERN = 'Chat+%s@example.com';
const TOKEN = '0123456789abcdef0123456789abcdef';
const EMAIL: IncomingEmail = {
  from: { name: 'Ann', address: 'ann@example.com' },
  subject: 'plans',
  recipients: [],
  text: 'hello',
  html: null,
  attachments: [],
  omitted: { count: 0, names: [] },
  invitations: [],
  unreadCalendars: [],
  sealedBy: null,
  headers: {},
  failures: null,
  isReadReceipt: false,
};

describe('parseIncomingAddress', () => {
  it.each([
    [`chat+${TOKEN}@example.com`, {}],
    [`CHAT+GENERAL.${TOKEN.toUpperCase()}.SHOW-SENDER@EXAMPLE.COM`, { showsSender: true }],
    [`chat+general+${TOKEN}+include-quotes+include-footer@example.com`, { includesQuotes: true, includesFooter: true }],
    [`chat+${TOKEN}.include-footers.prefer-html@example.com`, { includesFooter: true, prefersHtml: true }],
    [`chat+${TOKEN}.prefer-html.prefer-text@example.com`, {}],
    [`chat+${TOKEN}.unknown-word@example.com`, {}],
  ])('extracts the token and options from %s', (address, options) => {
    expect(parseIncomingAddress(PATTERN, address)).toEqual({
      kind: 'channel',
      token: TOKEN,
      options: { ...NO_EMAIL_OPTIONS, ...options },
    });
  });

  it('parses the reply and bounce addresses that it creates', () => {
    const key = 'a2'.repeat(16);
    expect(parseIncomingAddress(PATTERN, replyAddress(PATTERN, key))).toEqual({ kind: 'reply', key });
    expect(parseIncomingAddress(PATTERN, bounceAddress(PATTERN, TOKEN))).toEqual({ kind: 'bounce', key: TOKEN });
  });

  it.each([
    'chat+@example.com',
    'chat@example.com',
    'chat+general@example.com',
    `other+${TOKEN}@example.com`,
    `chat+${TOKEN}@example.org`,
    `chat+${TOKEN.slice(1)}@example.com`,
    'chat+mmshort@example.com',
    `chat+${'a.'.repeat(200)}${TOKEN}@example.com`,
    '',
  ])('rejects %s', (address) => {
    expect(parseIncomingAddress(PATTERN, address)).toBeNull();
  });
});

describe('topicOfSubject', () => {
  it.each([
    ['plans', 'plans'],
    ['Re: plans', 'plans'],
    ['RE: Fwd: AW: plans', 'plans'],
    ['Re[2]: plans', 'plans'],
    ['[Fwd: plans]', 'plans'],
    ['re-render the page', 're-render the page'],
    ['fwd plans', 'fwd plans'],
    ['[list] plans', '[list] plans'],
    ['  many \r\n  blanks\t', 'many blanks'],
    ['a\u0007b\u{ffff}c', 'abc'],
    ['Antwort: plans', 'plans'],
    ['VS: plans', 'plans'],
    ['Odp: plans', 'plans'],
    ['RV: plans', 'plans'],
    ['回复：计划', '计划'],
    ['转发: Re: 计划', '计划'],
    ['Antwort', 'Antwort'],
    ['VS Code', 'VS Code'],
    ['Re:', NO_SUBJECT],
    ['', NO_SUBJECT],
  ])('converts %j to %j', (subject, topic) => {
    expect(topicOfSubject(subject)).toBe(topic);
  });

  it('recognizes forwarded emails', () => {
    expect(['Fwd: x', 'FW: x', 'WG: x', '[Fwd: x]', 'Re: x', 'forward: x'].map((it) => isForwarded(it))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

it('withoutFooter cuts below a single line of two dashes', () => {
  expect(withoutFooter('hello\n-- \nAnn')).toBe('hello');
  expect(withoutFooter('a\n--\nb\n--\nc')).toBe('a\n--\nb\n--\nc');
  expect(withoutFooter('a -- b')).toBe('a -- b');
});

describe('bodyOf', () => {
  const html = { all: 'rich', reply: 'rich' };
  const body = (email: Partial<IncomingEmail>, options: Partial<typeof NO_EMAIL_OPTIONS> = {}) =>
    bodyOf({ ...EMAIL, ...email }, { ...NO_EMAIL_OPTIONS, ...options });

  it('prefers the plain text unless the address or the email specifies otherwise', () => {
    expect(body({ html })).toBe('hello');
    expect(body({ html }, { prefersHtml: true })).toBe('rich');
    expect(body({ html: null }, { prefersHtml: true })).toBe('hello');
    expect(body({ html, text: ' \r\n' })).toBe('rich');
    expect(body({ html, text: null })).toBe('rich');
    expect(body({ text: null })).toBe('');
  });

  it('keeps quotations and footers if requested, and quotations of forwarded emails', () => {
    const text = 'yes\n> old\n--\nAnn';
    expect(body({ text, subject: 'Re: plans' })).toBe('yes\n\n(The quoted email is not shown.)');
    expect(body({ text, subject: 'Re: plans' }, { includesFooter: true })).toBe(
      'yes\n--\nAnn\n\n(The quoted email is not shown.)',
    );
    expect(body({ text }, { includesQuotes: true })).toBe('yes\n> old');
    expect(body({ text, subject: 'Fwd: plans' })).toBe('yes\n> old');
    const quoting = { all: 'rich\n\nold', reply: 'rich' };
    expect(body({ text: null, html: quoting }, { includesQuotes: true })).toBe('rich\n\nold');
    expect(body({ text: null, html: quoting, subject: 'Re: plans' })).toBe('rich\n\n(The quoted email is not shown.)');
  });

  it('removes quotations only from replies, which a header, a subject or the address shows', () => {
    const text =
      'As agreed:\n\n> one\n\nOn Mon, 9 Mar 2026 at 16:22, Ann <ann@example.org> wrote:\n\nThat is the plan.';
    const reply = 'As agreed:\n\n(The quoted email is not shown.)';
    expect(body({ text })).toBe(text);
    expect(body({ text, headers: { 'in-reply-to': '<1@example.org>' } })).toBe(reply);
    expect(body({ text, headers: { references: '<1@example.org>' } })).toBe(reply);
    for (const subject of ['Re: Plan', 'AW: Plan', 'Odp: Plan', 'VS: Plan', '回复：Plan'])
      expect(body({ text, subject })).toBe(reply);
    expect(bodyOf({ ...EMAIL, text }, NO_EMAIL_OPTIONS, 'reply')).toBe('As agreed:');
  });

  it('is taken from HTML if only HTML marks the quotation of a reply', () => {
    const email = {
      text: 'jes\n\nDe-iu: Ann\nTemo: x\n\nold',
      html: { all: 'jes\n\nDe-iu: Ann\nTemo: x\n\nold', reply: 'jes' },
    };
    expect(body({ ...email, subject: 'Re: x' })).toBe('jes\n\n(The quoted email is not shown.)');
    expect(body(email)).toBe(email.text);
  });

  it('keeps what stands below an introduction that no mail program wrote', () => {
    const text = 'As agreed:\n\nOn Monday the team wrote:\nwe ship.\n\nThat is the plan.';
    expect(body({ text, subject: 'Re: Plan' })).toBe(text);
  });

  it('keeps forwarded emails in replies, behind signatures, and in HTML that marks them as quoted', () => {
    const forward =
      '---------- Forwarded message ---------\nFrom: Bob <bob@example.org>\nDate: Monday\nSubject: x\n\nwords';
    const headers = { references: '<1@example.org>' };
    expect(body({ text: `FYI\n\n${forward}`, headers })).toBe(`FYI\n\n${forward}`);
    expect(body({ text: `FYI\n\n${forward}` })).toBe(`FYI\n\n${forward}`);
    expect(body({ text: `FYI\n-- \nAnn\n\n${forward}`, headers })).toBe(`FYI\n-- \nAnn\n\n${forward}`);
    expect(body({ text: null, html: { all: `FYI\n\n${forward}`, reply: 'FYI' }, headers })).toBe(`FYI\n\n${forward}`);
    const quoting = `yes\n\nOn 9 Mar 2026 at 16:22, Ann <ann@example.org> wrote:\n\n${forward}`;
    expect(body({ text: quoting, headers })).toBe('yes\n\n(The quoted email is not shown.)');
    const copied = 'FYI\n\nFra: Bo\nSendt: mandag\nTil: Ann\nEmne: x\n\nord';
    expect(body({ text: copied, subject: 'VS: x', headers })).toBe(copied);
    expect(body({ text: copied, subject: 'SV: x', headers })).toBe('FYI\n\n(The quoted email is not shown.)');
  });

  it('explains why there is no text', () => {
    expect(body({ text: ' ', sealedBy: 'pgp' })).toBe('(This email is encrypted with PGP.)');
    expect(body({ text: null, sealedBy: 'smime' })).toMatch(/S\/MIME/);
    expect(body({ text: null, sealedBy: 'tnef' })).toMatch(/Outlook/);
    expect(body({ sealedBy: 'pgp' })).toBe('hello');
  });

  it('removes control characters', () => {
    expect(body({ text: 'a\0b\x1b\x85\tc\r\nd' })).toBe('ab\tc\nd');
  });
});

describe('fateOf', () => {
  const fate = (headers: IncomingEmail['headers'], kind: 'channel' | 'reply' = 'channel', more = {}) =>
    fateOf({ ...EMAIL, ...more, headers }, kind, 'us');

  it.each([
    [{}, 'accepted', 'accepted'],
    [{ 'auto-submitted': 'no' }, 'accepted', 'accepted'],
    [{ 'auto-submitted': 'auto-generated' }, 'accepted', 'automatic'],
    [{ 'auto-submitted': 'auto-replied; owner="x"' }, 'automatic', 'automatic'],
    [{ 'auto-submitted': 'auto-replied (vacation)' }, 'automatic', 'automatic'],
    [{ 'auto-submitted': '(a program) Auto-Replied' }, 'automatic', 'automatic'],
    [{ 'auto-submitted': 'no (a person)' }, 'accepted', 'accepted'],
    [{ 'auto-submitted': '' }, 'accepted', 'accepted'],
    [{ precedence: 'bulk' }, 'accepted', 'automatic'],
    [{ precedence: 'auto_reply' }, 'automatic', 'automatic'],
    [{ 'list-id': '<dev.example.com>' }, 'accepted', 'automatic'],
    [{ 'x-autoreply': 'yes' }, 'automatic', 'automatic'],
    [{ 'x-autorespond': '' }, 'automatic', 'automatic'],
    [{ 'x-parley-server': 'us' }, 'own', 'own'],
    [{ 'x-parley-server': 'others' }, 'accepted', 'accepted'],
  ] as const)('classifies emails with %j', (headers, forChannel, forReply) => {
    expect([fate(headers), fate(headers, 'reply')]).toEqual([forChannel, forReply]);
  });

  it('classifies delivery reports and read receipts as automatic', () => {
    expect(fate({}, 'channel', { isReadReceipt: true })).toBe('automatic');
    expect(fate({}, 'channel', { failures: [] })).toBe('automatic');
  });
});

it('fromLine shows the sender without Markdown', () => {
  expect(fromLine({ name: 'Ann @**all** [x](y)', address: 'ann@example.com' })).toBe(
    'From: Ann all x(y) <ann@example.com>',
  );
  expect(fromLine({ name: '', address: 'ann@example.com' })).toBe('From: <ann@example.com>');
});

describe('invitationText', () => {
  const invitation = {
    kind: 'invitation',
    summary: 'Plan @**all**\n# x',
    start: 1_767_261_600,
    end: 1_767_265_200,
    location: 'Room 5',
    organizer: 'ann@example.com',
  } as const;

  it('shows what, when and where without Markdown of the sender', () => {
    expect(invitationText(invitation)).toBe(
      'Invitation: **Plan all x**\nWhen: <time:2026-01-01T10:00:00Z> – <time:2026-01-01T11:00:00Z>\nWhere: Room 5\nFrom: ann@example.com',
    );
  });

  it('omits missing texts and times that are equal', () => {
    const day = { ...invitation, start: '2026-01-01', end: '2026-01-01', summary: '', location: '', organizer: '' };
    expect(invitationText({ ...day, kind: 'cancellation' })).toBe('Canceled: **no title**\nWhen: 2026-01-01');
    expect(invitationText({ ...day, kind: 'reply', start: null })).toBe('Reply to the invitation: **no title**');
  });
});

it('omittedLine names the first attachments and counts the others', () => {
  expect(omittedLine({ count: 0, names: [] })).toBe('');
  expect(omittedLine({ count: 1, names: ['a.png'] })).toBe(
    '(An attachment is missing, because there are too many: a.png)',
  );
  expect(omittedLine({ count: 3, names: ['a.png', '[b]'] })).toBe(
    '(3 attachments are missing, because there are too many: a.png, b and 1 more)',
  );
});

it('unreadCalendarsLine names calendars without Markdown of the sender', () => {
  expect(unreadCalendarsLine([])).toBe('');
  expect(unreadCalendarsLine(['invite.ics', '[b].ics'])).toBe(
    '(Events of these calendars cannot be shown: invite.ics, b.ics)',
  );
});

it('composeContent truncates the body and keeps the sender and the attachments', () => {
  const content = composeContent('x'.repeat(20_000), 'From: Ann', ['[a](/user_uploads/a)']);
  expect(content).toHaveLength(10_000);
  expect(content.startsWith('From: Ann\nxxx')).toBe(true);
  expect(content.endsWith('[message truncated]\n\n[a](/user_uploads/a)')).toBe(true);
  expect(composeContent('', null, [])).toBe('(No email body)');
});
