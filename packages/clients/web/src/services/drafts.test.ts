import { Chat, type Destination, type Gateway } from '@parley/chat';
import { type Draft, ParleyError } from '@parley/client';
import { signal } from '@preact/signals-core';
import { type DraftGateway, DraftSync, reconcile } from './draft-sync.js';
import { type DraftBook, type DraftEntry, Drafts, stampOf } from './drafts.js';
import { atTheSameMoment, simulateStorage } from './testing/windows.js';

const SELF = 7;
const HERE: Destination = { kind: 'channel', channelId: 1, topic: 'drafts' };

let stored: Record<string, string>;
beforeEach(() => {
  stored = simulateStorage();
});

const windowOf = (onServer: () => readonly Draft[] = () => []) =>
  new Drafts({ storageKey: 'drafts', selfId: SELF, onServer });

/** Simulates the browser's storage event. */
const notify = (window: Drafts) => window.change((book) => book);

const onServer = (id: number, content: string, topic = 'drafts'): Draft => ({
  id,
  type: 'stream',
  to: [1],
  topic,
  content,
  timestamp: 1_700_000_000,
});

const textsOf = (drafts: Drafts) => drafts.all.peek().map(({ text }) => text);

describe('Drafts', () => {
  it('keeps one text per conversation', () => {
    const drafts = windowOf();
    const draft = drafts.open(HERE);
    draft.save('first');
    draft.save('first and more');
    expect(windowOf().open(HERE).text).toBe('first and more');
    draft.save('');
    expect(windowOf().open(HERE).text).toBe('');
  });

  it('accepts a text from another window while the own field is unchanged', () => {
    const [one, two] = [windowOf(), windowOf()];
    const left = one.open(HERE);
    left.save('shared');
    notify(two);
    const right = two.open(HERE);
    left.save('shared, continued');
    notify(two);
    expect(right.takeChange('shared', false)).toBe('shared, continued');
    right.save('shared, continued here');
    notify(one);
    expect(left.takeChange('shared, continued', false)).toBe('shared, continued here');
    expect(textsOf(one)).toEqual(['shared, continued here']);
  });

  it('accepts a new text from another window while the own field is empty and idle', () => {
    const [one, two] = [windowOf(), windowOf()];
    const [left, right, inUse] = [one.open(HERE), two.open(HERE), two.open(HERE)];
    left.save('begun');
    notify(two);
    expect([right.takeChange('', true), inUse.takeChange('', false), inUse.takeChange('', true)]).toEqual([
      'begun',
      null,
      null,
    ]);
    left.save('begun, continued');
    notify(two);
    expect(right.takeChange('begun', true)).toBe('begun, continued');
    left.moveTo({ ...HERE, topic: 'elsewhere' });
    notify(two);
    expect(right.takeChange('begun, continued', true)).toBe('');
    two.add(HERE, 'left over here');
    expect(right.takeChange('', true)).toBeNull();
  });

  it('shows both texts when two windows changed one draft', () => {
    const [one, two] = [windowOf(), windowOf()];
    const left = one.open(HERE);
    left.save('common');
    notify(two);
    const right = two.open(HERE);
    left.save('common left');
    notify(two);
    expect(right.takeChange('common right', true)).toBeNull();
    right.save('common right');
    notify(one);
    expect(left.others.peek().map(({ text }) => text)).toEqual(['common right']);
    expect(right.others.peek().map(({ text }) => text)).toEqual(['common left']);
  });

  it('keeps the text of another window when this window sends its own', () => {
    const [one, two] = [windowOf(), windowOf()];
    const left = one.open(HERE);
    left.save('common');
    notify(two);
    const right = two.open(HERE);
    right.save('longer');
    left.save('');
    notify(one);
    expect(textsOf(one)).toEqual(['longer']);
  });

  it('keeps the texts that two windows write at the same moment', () => {
    const [one, two] = [windowOf(), windowOf()];
    const [left, right] = [one.open(HERE), two.open(HERE)];
    atTheSameMoment(
      () => left.save('written on the left'),
      () => right.save('written on the right'),
    );
    notify(one);
    notify(two);
    expect(left.takeChange('written on the left', true)).toBeNull();
    expect(right.takeChange('written on the right', true)).toBeNull();
    expect(textsOf(one).sort()).toEqual(['written on the left', 'written on the right']);
  });

  it('keeps a text that is written at the moment when another window has saved the former one', () => {
    const [one, two] = [windowOf(), windowOf()];
    const draft = one.open(HERE);
    draft.save('first');
    const markSaved = (id: number) =>
      two.change(({ entries, removed }) => ({
        entries: Object.fromEntries(
          Object.entries(entries).map(([key, entry]) => [key, { ...entry, id, saved: stampOf(HERE, 'first') }]),
        ),
        removed,
      }));
    atTheSameMoment(
      () => draft.save('first and more'),
      () => markSaved(4),
    );
    notify(two);
    expect(Object.values(two.book.peek().entries)).toMatchObject([{ text: 'first and more', id: 4 }]);
    // The text is sent.
    atTheSameMoment(
      () => draft.save(''),
      () => markSaved(5),
    );
    notify(two);
    expect([textsOf(two), [...two.book.peek().removed].sort()]).toEqual([[], [4, 5]]);
    two.change(({ entries }) => ({ entries, removed: [] }));
    expect(Object.keys(localStorage)).toEqual([]);
  });

  it('moves the text of a field while its topic is being typed', () => {
    const drafts = windowOf();
    const draft = drafts.open({ ...HERE, topic: '' });
    draft.save('text');
    for (const topic of ['n', 'ne', 'new']) draft.moveTo({ ...HERE, topic });
    expect(drafts.all.peek().map(({ to }) => to)).toEqual([{ ...HERE, topic: 'new' }]);
  });

  it('reads data stored by version 0.2', () => {
    stored.drafts = JSON.stringify({ 'channel:1:drafts': 'old', 'dm:3,4': 'also old', 'dm:': 'to myself' });
    const drafts = windowOf();
    expect(drafts.open(HERE).text).toBe('old');
    expect(drafts.open({ kind: 'direct', userIds: [3, 4] }).text).toBe('also old');
    expect(drafts.open({ kind: 'direct', userIds: [] }).text).toBe('to myself');
    expect(stored.drafts).toBeUndefined();
    expect(textsOf(windowOf())).toHaveLength(3);
  });

  it.each(['', '[]', '{"entries":', '7', 'null', '"text"'])(
    'starts without drafts if the storage contains %j',
    (damaged) => {
      Object.assign(stored, { drafts: damaged, 'drafts text 1': damaged, 'drafts saved 1': damaged });
      const drafts = windowOf();
      drafts.open(HERE).save('still works');
      expect(textsOf(windowOf())).toEqual(['still works']);
    },
  );

  it.each([{ kind: 'direct' }, { kind: 'direct', userIds: ['7'] }, { kind: 'channel', topic: 'x' }, { kind: 'x' }, 7])(
    'drops a draft to %j and keeps the others',
    (to) => {
      const whole = { to: HERE, text: 'whole', editedAt: 1 };
      const records = { 'drafts text 1': { ...whole, to }, 'drafts text 2': whole };
      for (const [key, record] of Object.entries(records)) stored[key] = JSON.stringify(record);
      expect(textsOf(windowOf())).toEqual(['whole']);
    },
  );

  it('keeps drafts until the page is closed if the storage is full, and stores them with the next change', () => {
    const { setItem } = localStorage;
    const replaceBy = (value: typeof setItem) =>
      Object.defineProperty(localStorage, 'setItem', { value, configurable: true });
    replaceBy(() => {
      throw new Error('QuotaExceededError');
    });
    const drafts = windowOf();
    drafts.open(HERE).save('kept');
    expect([drafts.open(HERE).text, Object.keys(stored)]).toEqual(['kept', []]);
    replaceBy(setItem);
    drafts.add({ ...HERE, topic: 'elsewhere' }, 'second');
    expect(Object.keys(stored)).toHaveLength(2);
  });

  it('does not replace newer texts by those of version 0.2', () => {
    stored.drafts = JSON.stringify({ 'channel:1:drafts': 'old' });
    windowOf().open(HERE).save('newer');
    stored.drafts = JSON.stringify({ 'channel:1:drafts': 'old' });
    expect(textsOf(windowOf())).toEqual(['newer']);
  });

  it('opens a draft that exists only on the server', () => {
    const drafts = windowOf(() => [onServer(4, 'from the phone')]);
    const draft = drafts.open(HERE);
    expect(draft.text).toBe('from the phone');
    draft.save('from the phone, continued');
    expect(textsOf(drafts)).toEqual(['from the phone, continued']);
  });
});

const entryOf = (fields: Partial<DraftEntry>): DraftEntry => ({
  to: HERE,
  text: 'text',
  editedAt: 1,
  id: 4,
  saved: stampOf(HERE, 'text'),
  ...fields,
});
const bookOf = (entry: DraftEntry): DraftBook => ({ entries: { key: entry }, removed: [] });
const merged = (entry: DraftEntry, ...present: Draft[]) =>
  Object.values(reconcile(bookOf(entry), present, SELF).entries)[0];

describe('reconcile', () => {
  it('accepts a text that changed only elsewhere', () => {
    expect(merged(entryOf({}), onServer(4, 'theirs'))).toMatchObject({ text: 'theirs', id: 4 });
  });

  it('keeps a text that changed only here', () => {
    expect(merged(entryOf({ text: 'mine' }), onServer(4, 'text'))).toMatchObject({ text: 'mine', id: 4 });
  });

  it('creates two drafts of a text that changed on both sides', () => {
    expect(merged(entryOf({ text: 'mine' }), onServer(4, 'theirs'))).toMatchObject({ text: 'mine', id: null });
  });

  it('removes a draft that was sent elsewhere, unless it was continued here', () => {
    expect(merged(entryOf({}))).toBeUndefined();
    expect(merged(entryOf({ text: 'mine' }))).toMatchObject({ text: 'mine', id: null });
  });

  it('keeps a text that equals a draft pending removal', () => {
    const { entries } = bookOf(entryOf({ id: null, saved: '' }));
    expect(reconcile({ entries, removed: [9] }, [onServer(9, 'text')], SELF)).toMatchObject({
      entries: { key: { text: 'text', id: null } },
      removed: [9],
    });
  });

  it('recognizes an equal draft instead of saving it twice', () => {
    expect(merged(entryOf({ id: null, saved: '', text: 'text  ' }), onServer(9, 'text'))).toMatchObject({ id: 9 });
  });
});

/** Simulated server with drafts, as seen by a device of the same person. */
class FakeServer {
  readonly drafts = new Map<number, Draft>();
  readonly calls: string[] = [];
  private nextId = 1;
  failure: ParleyError | null = null;

  readonly gateway = {
    get: async () => this.answer('GET', () => ({ drafts: [...this.drafts.values()] })),
    post: async (_: string, { drafts }: { drafts: readonly Omit<Draft, 'id'>[] }) =>
      this.answer('POST', () => ({ ids: drafts.map((draft) => this.put(this.nextId++, draft)) })),
    patch: async (_: string, { draft_id: id, draft }: { draft_id: number; draft: Omit<Draft, 'id'> }) =>
      this.answer('PATCH', () => {
        if (!this.drafts.has(id)) throw new ParleyError('Draft does not exist', 'BAD_REQUEST', 404);
        this.put(id, draft);
        return {};
      }),
    delete: async (_: string, { draft_id: id }: { draft_id: number }) =>
      this.answer('DELETE', () => ({ removed: this.drafts.delete(id) })),
  } as unknown as DraftGateway;

  private answer<T>(call: string, answer: () => T): T {
    this.calls.push(call);
    if (this.failure) throw this.failure;
    return answer();
  }

  private put(id: number, draft: Omit<Draft, 'id'>): number {
    this.drafts.set(id, { ...draft, id });
    return id;
  }

  get texts(): readonly string[] {
    return [...this.drafts.values()].map(({ content }) => content);
  }
}

function deviceOf(server: FakeServer, isEnabled = true) {
  const chat = new Chat({ gateway: {} as Gateway });
  const setting = { enable_drafts_synchronization: isEnabled } as never;
  chat.state.fields.set('user_settings', setting);
  const drafts = windowOf();
  const sync = new DraftSync(drafts, chat, server.gateway, (task) => task());
  return { chat, drafts, sync };
}

describe('DraftSync', () => {
  it('saves, changes and removes a draft', async () => {
    const server = new FakeServer();
    const { drafts, sync } = deviceOf(server);
    const draft = drafts.open(HERE);
    draft.save('one');
    await sync.flush();
    draft.save('one two');
    await sync.flush();
    expect(server.texts).toEqual(['one two']);
    draft.save('');
    await sync.flush();
    expect(server.texts).toEqual([]);
    expect(server.calls).toEqual(['GET', 'POST', 'GET', 'PATCH', 'GET', 'DELETE']);
  });

  it('keeps the texts of two devices that changed one draft', async () => {
    const server = new FakeServer();
    const laptop = deviceOf(server);
    const draft = laptop.drafts.open(HERE);
    draft.save('common');
    await laptop.sync.flush();
    stored = simulateStorage();
    const phone = deviceOf(server);
    phone.drafts.change((book) => reconcile(book, [...server.drafts.values()], SELF));
    const [known] = server.drafts.values();
    phone.drafts.put('phone', entryOf({ id: known!.id, text: 'common phone', saved: stampOf(HERE, 'common') }));
    await phone.sync.flush();
    stored = simulateStorage();
    laptop.drafts.change(() =>
      bookOf(entryOf({ id: known!.id, text: 'common laptop', saved: stampOf(HERE, 'common') })),
    );
    await laptop.sync.flush();
    expect(server.texts).toEqual(['common phone', 'common laptop']);
  });

  it('saves nothing if the user disables synchronization', async () => {
    const server = new FakeServer();
    const { drafts, sync } = deviceOf(server, false);
    drafts.open(HERE).save('private');
    await sync.flush();
    expect(server.calls).toEqual([]);
    expect(textsOf(drafts)).toEqual(['private']);
  });

  it('does not resend a rejected text', async () => {
    const server = new FakeServer();
    const { drafts, sync } = deviceOf(server);
    drafts.open(HERE).save('refused');
    server.drafts.set(1, onServer(1, 'other', 'elsewhere'));
    server.gateway.post = async () => {
      throw new ParleyError('Invalid channel ID', 'BAD_REQUEST', 400);
    };
    await sync.flush();
    await sync.flush();
    expect(server.calls).toEqual(['GET']);
    expect(textsOf(drafts)).toEqual(['refused']);
  });
});

it('Drafts observes drafts on the server', () => {
  const present = signal<readonly Draft[]>([]);
  const drafts = windowOf(() => present.value);
  present.value = [onServer(3, 'arrived')];
  expect(textsOf(drafts)).toEqual(['arrived']);
});
