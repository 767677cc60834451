import fc from 'fast-check';

/** Ids of few objects, so that references meet, miss and collide. */
const id = (kind: string) => fc.integer({ min: 1, max: 6 }).map((number) => `${kind}${number}`);
const members = fc.uniqueArray(id('p'), { maxLength: 5 });
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom('```', '> **a**', '/me waves', 'x'.repeat(11_000), ''),
);
const part = fc.oneof(
  text,
  fc.record({ mention: fc.constantFrom('person', 'group'), id: id('p') }),
  fc.record({ mention: fc.constant('everyone') }),
  fc.record({ link: fc.constantFrom('channel', 'message', 'file'), id: fc.oneof(id('c'), id('m'), id('f')) }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 5 }));
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const place = fc.oneof(fc.record({ channel: id('c') }), fc.record({ conversation: id('d') }));
/** Arbitrary record without its source. */
export const aRecord = fc.oneof(
  fc.record({
    kind: fc.constant('person'),
    id: id('p'),
    name: text.filter((name) => name.length < 100),
    email: some(fc.constantFrom('a@x.example', 'b@x.example')),
    isEmailVerified: some(fc.boolean()),
    role: some(fc.constantFrom('owner', 'member', 'guest')),
    isBot: some(fc.boolean()),
    isDeactivated: some(fc.boolean()),
    isExternal: some(fc.boolean()),
  }),
  fc.record({
    kind: fc.constant('channel'),
    id: id('c'),
    name: fc.constantFrom('general', 'General', '', 'x'.repeat(90)),
    privacy: fc.constantFrom('public', 'private'),
    members,
    isArchived: some(fc.boolean()),
  }),
  fc.record({
    kind: fc.constant('conversation'),
    id: id('d'),
    members: fc.uniqueArray(id('p'), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('thread'),
    id: id('m'),
    channel: id('c'),
    name: some(text.filter((name) => name.length < 100)),
  }),
  fc
    .tuple(
      fc.record({
        kind: fc.constant('message'),
        id: id('m'),
        sender: id('p'),
        sentAt: fc.integer({ min: 0, max: 20 }),
        content,
        thread: some(id('m')),
        replyTo: some(id('m')),
        files: some(fc.array(id('f'), { maxLength: 3 })),
        isBroadcast: some(fc.boolean()),
      }),
      place,
    )
    .map(([message, at]) => ({ ...message, ...at })),
  fc.record({
    kind: fc.constant('reaction'),
    id: id('r'),
    message: id('m'),
    person: id('p'),
    emoji: fc.constantFrom('tada', '👍', 'nope'),
  }),
  fc.record({
    kind: fc.constant('edit'),
    id: id('e'),
    message: id('m'),
    at: fc.integer({ min: 0, max: 20 }),
    previous: content,
  }),
  fc.record({ kind: fc.constant('deletion'), id: id('x'), message: id('m') }),
  fc.record({ kind: fc.constant('pin'), id: id('n'), message: id('m'), person: some(id('p')) }),
  fc.record({
    kind: fc.constant('file'),
    id: id('f'),
    name: fc.constant('a.png'),
    path: some(fc.constantFrom('a.png', 'gone.png')),
  }),
  fc
    .tuple(
      fc.record({
        kind: fc.constant('readPosition'),
        id: id('q'),
        person: id('p'),
        readUntil: fc.integer({ min: 0, max: 20 }),
      }),
      place,
    )
    .map(([position, at]) => ({ ...position, ...at })),
  fc.record({ kind: fc.constant('skipped'), id: id('s'), type: fc.constant('join'), reason: fc.constant('none') }),
);
