import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';

/** Channel kinds (channels §3.7). */
const KINDS = {
  'web-public': { is_web_public: true },
  public: {},
  'private, shared history': { invite_only: true, history_public_to_subscribers: true },
  'private, protected history': { invite_only: true, history_public_to_subscribers: false },
  'archived public': {},
  'archived private': { invite_only: true, history_public_to_subscribers: true },
} as const;
type Kind = keyof typeof KINDS;

/**
 * Relation of a caller to the channel: member of a permission group without subscription, or subscriber without
 * permissions.
 */
const STANDINGS = {
  none: null,
  subscribed: null,
  administers: 'can_administer_channel_group',
  adds: 'can_add_subscribers_group',
  subscribes: 'can_subscribe_group',
  removes: 'can_remove_subscribers_group',
} as const;
type Standing = keyof typeof STANDINGS;

const CALLERS = ['desdemona', 'iago', 'shiva', 'hamlet', 'polonius'] as const;
type Caller = (typeof CALLERS)[number];

const ALLOWED = '';
const UNKNOWN = 'Invalid channel ID';
const NO_GUESTS = 'Not allowed for guest users';
const INSUFFICIENT = 'Insufficient permission';
const UNKNOWN_MESSAGE = 'Invalid message(s)';
const unknownDestination = ({ id }: Pick<Channel, 'id'>) => `Channel with ID '${id}' does not exist`;

interface Channel {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly standing: Standing;
  /** Sent after all subscriptions. */
  readonly message: number;
  /** One message for each caller to delete. */
  readonly doomed: Readonly<Record<Caller, number>>;
}

/** Independent model of a caller's rights in a channel (channels §3.7). */
class Rights {
  readonly isGuest: boolean;
  readonly isAdministrator: boolean;
  readonly isWebPublic: boolean;
  readonly isPublic: boolean;
  readonly isArchived: boolean;
  readonly hasSharedHistory: boolean;

  constructor(
    caller: Caller,
    readonly channel: Channel,
  ) {
    const { kind } = channel;
    this.isGuest = caller === 'polonius';
    this.isAdministrator = caller === 'desdemona' || caller === 'iago';
    this.isWebPublic = kind === 'web-public';
    this.isPublic = this.isWebPublic || kind.endsWith('public');
    this.isArchived = kind.startsWith('archived');
    this.hasSharedHistory = kind !== 'private, protected history';
  }

  is(standing: Standing): boolean {
    return this.channel.standing === standing && (standing === 'subscribed' || !this.isGuest);
  }

  get mayReadContent(): boolean {
    if (this.isWebPublic || this.is('subscribed')) return true;
    return !this.isGuest && (this.isPublic || this.is('adds') || this.is('subscribes'));
  }

  /** True if the caller can read a message by its id (messages §1.4). */
  get mayReadMessage(): boolean {
    if (this.is('subscribed')) return true;
    if (this.isGuest) return false;
    return this.isPublic || (this.hasSharedHistory && (this.is('adds') || this.is('subscribes')));
  }

  get mayChangeMessage(): boolean {
    return this.mayReadMessage && !this.isArchived;
  }

  /** Expected error for posting. A channel that the caller cannot access counts as missing (README decision 20). */
  get inPosting(): string {
    const { channel, isArchived, isGuest, isWebPublic, isPublic, hasSharedHistory } = this;
    if (!this.maySeeMetadata) return unknownDestination(channel);
    const isInside = isWebPublic || (isPublic && !isGuest) || this.is('subscribed');
    const isAsGood = hasSharedHistory && (this.is('adds') || this.is('subscribes'));
    const isAllowed = !isArchived && (isInside || isAsGood);
    return isAllowed ? ALLOWED : `Not authorized to send to channel '${channel.name}'`;
  }

  get mayAdminister(): boolean {
    return this.isAdministrator || this.is('administers');
  }

  get maySeeMetadata(): boolean {
    return this.mayReadContent || this.mayAdminister;
  }

  /** Number of readable messages: one was sent before all subscriptions, one after. */
  get messages(): number {
    const hasWhole = this.isWebPublic || (this.isPublic && !this.isGuest) || this.hasSharedHistory;
    if (!this.mayReadContent) return 0;
    if (hasWhole) return 2;
    return this.is('subscribed') ? 1 : 0;
  }

  get inAdministration(): string {
    if (this.mayAdminister) return ALLOWED;
    return this.mayReadContent ? 'You do not have permission to administer this channel.' : UNKNOWN;
  }
}

let channels: readonly Channel[];
/** Channel of another organization. */
let foreign: Channel;
/** Subscriber of every channel. */
let resident: TestUser;
let leaver: TestUser;
/** Subscriber of no channel. */
let newcomer: TestUser;
/** Ids of scheduled messages by caller id. */
const scheduled = new Map<number, number>();

const { server } = serverPerSuite();
beforeAll(async () => {
  const { desdemona, cordelia } = server.people;
  resident = cordelia;
  leaver = await server.addUser({ email: 'gertrude@zulip.com', fullName: 'Gertrude' });
  newcomer = await server.addUser({ email: 'ophelia@zulip.com', fullName: 'Ophelia' });
  const { nobody } = await server.systemGroups();
  const adders = { direct_members: [resident.id], direct_subgroups: [] };
  const callers = CALLERS.map((name) => server.people[name]);
  fieldsOf(
    await server.patch('/realm', desdemona, {
      enable_spectator_access: true,
      can_add_subscribers_group: { new: adders },
      send_channel_events_messages: false,
    }),
  );
  const made: Channel[] = [];
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (const [standing, group] of Object.entries(STANDINGS) as [Standing, string | null][]) {
      const name = `${kind}: ${standing}`;
      const id = await server.createChannel(name, [resident, leaver], {
        ...KINDS[kind],
        can_administer_channel_group: nobody,
        can_remove_subscribers_group: nobody,
        ...(group && { [group]: { direct_members: callers.map((caller) => caller.id), direct_subgroups: [] } }),
      });
      await server.sendMessage(resident, id);
      if (standing === 'subscribed') await subscribe(callers, name);
      const message = await server.sendMessage(resident, id);
      const doomed: Partial<Record<Caller, number>> = {};
      for (const who of CALLERS) doomed[who] = await server.sendMessage(resident, id, { topic: 'doomed' });
      if (kind.startsWith('archived')) fieldsOf(await server.delete(`/streams/${id}`, desdemona));
      made.push({ id, name, kind, standing, message, doomed: doomed as Channel['doomed'] });
    }
  }
  channels = made;
  for (const caller of callers) {
    const later = {
      type: 'direct',
      to: [caller.id],
      content: 'x',
      scheduled_delivery_timestamp: server.clock.now() + 3600,
    };
    scheduled.set(caller.id, fieldsOf(await server.post('/scheduled_messages', caller, later)).scheduled_message_id);
  }
});
beforeAll(async () => {
  const realmId = await server.addRealm('lear');
  const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
  const post = async (path: string, params: Record<string, unknown>): Promise<number> =>
    fieldsOf(await server.request('POST', path, { as: king, params, realm: 'lear' })).id;
  const id = await post('/channels/create', { name: 'britain', subscribers: [king.id] });
  const message = await post('/messages', { type: 'channel', to: id, topic: 'plans', content: 'x' });
  const doomed = Object.fromEntries(CALLERS.map((who) => [who, message])) as Channel['doomed'];
  foreign = { id, name: 'britain', kind: 'public', standing: 'none', message, doomed };
});

const subscribe = async (people: readonly TestUser[], name: string): Promise<void> => {
  const principals = people.map(({ id }) => id);
  fieldsOf(await server.post('/users/me/subscriptions', resident, { subscriptions: [{ name }], principals }));
};
const unsubscribe = async (who: TestUser, name: string): Promise<void> => {
  fieldsOf(await server.delete('/users/me/subscriptions', who, { subscriptions: [name] }));
};
const eventsSoFar = () => server.storage.uow.read(server.realmId, ({ events }) => events.lastSeq(server.realmId));

interface Operation {
  readonly ask: (channel: Channel, caller: TestUser) => Promise<TestReply>;
  /** Expected error; '' if the operation succeeds. */
  readonly response: (rights: Rights) => string;
  /**
   * Expected error for a channel of another organization; absent if channels are given by name, because names are
   * unique per organization only.
   */
  readonly ofOthers?: string | ((channel: Channel) => string);
  /** Reverts a successful operation. */
  readonly undo?: (channel: Channel, caller: TestUser) => Promise<void>;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /streams/{id}': {
    ask: ({ id }, caller) => server.get(`/streams/${id}`, caller),
    response: ({ maySeeMetadata }) => (maySeeMetadata ? ALLOWED : UNKNOWN),
    ofOthers: UNKNOWN,
  },
  'GET /streams/{id}/members': {
    ask: ({ id }, caller) => server.get(`/streams/${id}/members`, caller),
    response: ({ maySeeMetadata }) => (maySeeMetadata ? ALLOWED : UNKNOWN),
    ofOthers: UNKNOWN,
  },
  'GET /users/me/{id}/topics': {
    ask: ({ id }, caller) => server.get(`/users/me/${id}/topics`, caller),
    response: ({ mayReadContent }) => (mayReadContent ? ALLOWED : UNKNOWN),
    ofOthers: UNKNOWN,
  },
  'PATCH /streams/{id} with a description': {
    ask: ({ id }, caller) => server.patch(`/streams/${id}`, caller, { description: `by ${caller.email}` }),
    response: ({ inAdministration }) => inAdministration,
    ofOthers: UNKNOWN,
  },
  'PATCH /streams/{id} with a group that reads content': {
    ask: ({ id, standing }, caller) => {
      const group = standing === 'adds' ? 'can_subscribe_group' : 'can_add_subscribers_group';
      const somebody = (who: TestUser) => ({ new: { direct_members: [who.id], direct_subgroups: [] } });
      return server.patch(`/streams/${id}`, caller, {
        [group]: somebody(caller.id === newcomer.id ? leaver : newcomer),
      });
    },
    response: ({ inAdministration, mayReadContent }) =>
      inAdministration === ALLOWED && !mayReadContent ? 'Channel content access is required.' : inAdministration,
    ofOthers: UNKNOWN,
  },
  'PATCH /streams/{id} with is_private': {
    ask: ({ id, kind }, caller) => server.patch(`/streams/${id}`, caller, privacyOf(kind)),
    response: ({ inAdministration, mayReadContent }) =>
      inAdministration === ALLOWED && !mayReadContent ? 'Channel content access is required.' : inAdministration,
    ofOthers: UNKNOWN,
  },
  'POST /messages': {
    ask: ({ id }, caller) =>
      server.post('/messages', caller, { type: 'channel', to: id, topic: 'answers', content: 'me too' }),
    response: ({ inPosting }) => inPosting,
    ofOthers: unknownDestination,
  },
  'PATCH /scheduled_messages/{id} with a channel': {
    ask: ({ id }, caller) =>
      server.patch(`/scheduled_messages/${scheduled.get(caller.id)!}`, caller, {
        type: 'channel',
        to: id,
        topic: 'answers',
      }),
    response: ({ inPosting }) => inPosting,
    ofOthers: unknownDestination,
  },
  'GET /messages/{id}': {
    ask: ({ message }, caller) => server.get(`/messages/${message}`, caller),
    response: ({ mayReadMessage }) => (mayReadMessage ? ALLOWED : UNKNOWN_MESSAGE),
    ofOthers: UNKNOWN_MESSAGE,
  },
  'GET /messages/{id}/history': {
    ask: ({ message }, caller) => server.get(`/messages/${message}/history`, caller),
    response: ({ mayReadMessage }) => (mayReadMessage ? ALLOWED : UNKNOWN_MESSAGE),
    ofOthers: UNKNOWN_MESSAGE,
  },
  'POST /reminders': {
    ask: ({ message }, caller) =>
      server.post('/reminders', caller, {
        message_id: message,
        scheduled_delivery_timestamp: server.clock.now() + 3600,
      }),
    response: ({ mayReadMessage }) => (mayReadMessage ? ALLOWED : UNKNOWN_MESSAGE),
    ofOthers: UNKNOWN_MESSAGE,
  },
  'POST /messages/{id}/reactions': {
    ask: ({ message }, caller) => server.post(`/messages/${message}/reactions`, caller, { emoji_name: 'tada' }),
    response: ({ mayChangeMessage }) => (mayChangeMessage ? ALLOWED : UNKNOWN_MESSAGE),
    ofOthers: UNKNOWN_MESSAGE,
  },
  'DELETE /messages/{id}/reactions': {
    ask: ({ message }, caller) => server.delete(`/messages/${message}/reactions`, caller, { emoji_name: 'smile' }),
    response: ({ mayChangeMessage }) => (mayChangeMessage ? "Reaction doesn't exist." : UNKNOWN_MESSAGE),
    ofOthers: UNKNOWN_MESSAGE,
  },
  'DELETE /messages/{id}': {
    ask: ({ doomed }, caller) => {
      const who = CALLERS.find((name) => server.people[name].id === caller.id)!;
      return server.delete(`/messages/${doomed[who]}`, caller);
    },
    response: ({ mayChangeMessage, isAdministrator }) => {
      if (!mayChangeMessage) return UNKNOWN_MESSAGE;
      return isAdministrator ? ALLOWED : "You don't have permission to delete this message";
    },
    ofOthers: UNKNOWN_MESSAGE,
  },
  'POST /users/me/subscriptions for themselves': {
    ask: ({ name }, caller) => server.post('/users/me/subscriptions', caller, { subscriptions: [{ name }] }),
    response: ({ channel: { name }, isGuest, mayReadContent }) => {
      if (isGuest) return NO_GUESTS;
      return mayReadContent ? ALLOWED : `Unable to access channel (${name}).`;
    },
    undo: async ({ name, standing }, caller) => {
      if (standing !== 'subscribed') await unsubscribe(caller, name);
    },
  },
  'POST /users/me/subscriptions for another': {
    ask: ({ name }, caller) =>
      server.post('/users/me/subscriptions', caller, { subscriptions: [{ name }], principals: [newcomer.id] }),
    response: (rights) => {
      if (rights.isGuest) return NO_GUESTS;
      if (!rights.mayReadContent) return `Unable to access channel (${rights.channel.name}).`;
      return rights.mayAdminister || rights.is('adds') ? ALLOWED : INSUFFICIENT;
    },
    undo: ({ name }) => unsubscribe(newcomer, name),
  },
  'DELETE /users/me/subscriptions of another': {
    ask: ({ name }, caller) =>
      server.delete('/users/me/subscriptions', caller, { subscriptions: [name], principals: [leaver.id] }),
    response: (rights) => {
      // Same response as for an unknown channel (channels §1).
      if (!rights.maySeeMetadata) return `Channel(s) (${rights.channel.name}) do not exist`;
      return rights.mayAdminister || rights.is('removes') ? ALLOWED : INSUFFICIENT;
    },
    undo: ({ name }) => subscribe([leaver], name),
  },
  'POST /streams/{id}/delete_topic': {
    ask: ({ id }, caller) => server.post(`/streams/${id}/delete_topic`, caller, { topic_name: 'nothing was said' }),
    response: ({ isAdministrator, isArchived, mayReadContent }) => {
      if (!isAdministrator) return 'Must be an organization administrator';
      return mayReadContent && !isArchived ? ALLOWED : UNKNOWN;
    },
    ofOthers: UNKNOWN,
  },
};

/** Returns current privacy settings. */
const privacyOf = (kind: Kind): Readonly<Record<string, unknown>> => {
  const { invite_only = false, history_public_to_subscribers = true } = KINDS[kind] as Partial<
    Record<'invite_only' | 'history_public_to_subscribers', boolean>
  >;
  return { is_private: invite_only, history_public_to_subscribers };
};

it.each(Object.keys(OPERATIONS))(
  '%s follows the permissions of the contract and changes nothing when rejected',
  async (name) => {
    const { ask, response, undo } = OPERATIONS[name]!;
    const responses: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const channel of channels) {
      for (const who of CALLERS) {
        const caller = server.people[who];
        const cell = `${who}, ${channel.name}`;
        const before = await eventsSoFar();
        responses[cell] = (await ask(channel, caller)).body.msg;
        expected[cell] = response(new Rights(who, channel));
        if (responses[cell] === ALLOWED) await undo?.(channel, caller);
        else if ((await eventsSoFar()) !== before) responses[cell] += ' (with events)';
      }
    }
    expect(responses).toEqual(expected);
  },
);

it.each(Object.keys(OPERATIONS).filter((name) => OPERATIONS[name]!.ofOthers !== undefined))(
  '%s rejects channels of another organization',
  async (name) => {
    const { ask, ofOthers } = OPERATIONS[name]!;
    const before = await eventsSoFar();
    for (const who of CALLERS) {
      const { msg } = (await ask(foreign, server.people[who])).body;
      const isRefusedToAll = who === 'desdemona' || who === 'iago' || name !== 'POST /streams/{id}/delete_topic';
      if (isRefusedToAll) expect(msg).toBe(typeof ofOthers === 'function' ? ofOthers(foreign) : ofOthers);
      else expect(msg).not.toBe(ALLOWED);
    }
    expect(await eventsSoFar()).toBe(before);
  },
);

it('channel and message lists contain what each caller may see', async () => {
  for (const who of CALLERS) {
    const caller = server.people[who];
    const listed = async (params: object): Promise<string[]> => {
      const { streams } = fieldsOf(await server.get('/streams', caller, { exclude_archived: false, ...params }));
      return streams.map(({ name }: { name: string }) => name).sort();
    };
    const rights = channels.map((channel) => new Rights(who, channel));
    const those = (isIn: (rights: Rights) => boolean): string[] =>
      rights
        .filter(isIn)
        .map(({ channel: { name } }) => name)
        .sort();
    expect(await listed({ include_all: true })).toEqual(those(({ maySeeMetadata }) => maySeeMetadata));
    expect(await listed({ include_can_access_content: true })).toEqual(those(({ mayReadContent }) => mayReadContent));
    const byDefault = (each: Rights): boolean => (each.isPublic && !each.isGuest) || each.is('subscribed');
    expect(await listed({})).toEqual(those(byDefault));

    // Messages without reactions, which would add history rows, and without permission to delete.
    const asked = { msg_ids: channels.map(({ doomed }) => doomed.hamlet), narrow: [] };
    const { messages: own } = fieldsOf(await server.get('/messages/matches_narrow', caller, asked));
    // Messages that the caller received (messages §8).
    const received = channels.filter(({ doomed }) => doomed.hamlet in own).map(({ name }) => name);
    expect(received.sort()).toEqual(those((each) => each.is('subscribed')));

    const counts: Record<string, number> = {};
    for (const { id, name } of channels) {
      const narrow = [
        { operator: 'channel', operand: id },
        { operator: 'topic', operand: 'plans' },
      ];
      counts[name] = (await server.messagesFor(caller, { num_before: 10, narrow })).length;
    }
    expect(counts).toEqual(Object.fromEntries(rights.map((each) => [each.channel.name, each.messages])));
  }
});

it('POST /channels/create allows each channel kind only to the roles in the contract (channels §4.4)', async () => {
  const responses: Record<string, string> = {};
  const expected: Record<string, string> = {};
  for (const [kind, params] of Object.entries(KINDS).slice(0, 4)) {
    for (const who of CALLERS) {
      const cell = `${who}: ${kind}`;
      const before = await eventsSoFar();
      const reply = await server.post('/channels/create', server.people[who], {
        name: `made by ${cell}`,
        subscribers: [],
        ...params,
      });
      responses[cell] = reply.body.msg;
      if (reply.body.msg !== ALLOWED && (await eventsSoFar()) !== before) responses[cell] += ' (with events)';
      const isAllowed = kind !== 'web-public' || who === 'desdemona';
      expected[cell] = who === 'polonius' ? NO_GUESTS : isAllowed ? ALLOWED : INSUFFICIENT;
    }
  }
  expect(responses).toEqual(expected);
});
