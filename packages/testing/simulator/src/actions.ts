import { type Choices, other, type Play, pick } from './choices.js';
import type { Company } from './company.js';
import { FILE_ACTIONS } from './file-actions.js';
import { ADMINISTRATOR, type Channel, GUEST, MEMBER, type Message, MODERATOR, OWNER_PERSON, textOf } from './model.js';
import { channelsOf, destinationOf, pickChannel, send, TOPICS } from './sending.js';
import { lookBack, spy } from './spying.js';
import { removeAll, TOPIC_ACTIONS } from './topic-actions.js';
import { Violation } from './violation.js';

/** Refusals of a move that has already happened. */
const MOVED = new Set(['Nothing to change', 'Invalid propagate_mode without topic edit', 'Invalid message(s)']);

/** Changes between members and guests are frequent, because most rights depend on them. */
const ROLES = [ADMINISTRATOR, MODERATOR, MEMBER, GUEST, MEMBER, GUEST, MODERATOR, MEMBER];
/** Messages that people return to. */
const RECENT = 12;

/** Messages of others are deleted by administrators only (messages §11). */
const mayDelete = ({ model }: Company, by: number, { sender }: Message): boolean =>
  sender === by || model.roles[by]! <= ADMINISTRATOR;

/** Message to delete: half of the time one to which a reminder, a draft or the channel refers. */
async function pickForDeletion(company: Company, step: Choices): Promise<Message | undefined> {
  const { model } = company;
  if (step.b > 0.9) return pickRecent(company, step);
  // Somebody takes back a message before others have polled.
  if (step.b < 0.2) await send(company, step);
  const deletable = model.readable(step.by).filter((message) => mayDelete(company, step.by, message));
  if (step.b < 0.2) return deletable.at(-1);
  const quoted = new Set([...model.reminders, ...model.drafts.values()].map(({ message }) => message));
  const isReferred = (message: Message) => (step.b < 0.4 ? quoted.has(message) : model.isFirst(message));
  const referred = step.b < 0.55 ? deletable.filter(isReferred) : [];
  return pick(referred.length > 0 ? referred : deletable.slice(-RECENT), step.a);
}

/** One of the last messages that the person can read and for which the condition holds. */
const pickRecent = ({ model }: Company, { by, a }: Choices, isMeant: (message: Message) => boolean = () => true) =>
  pick(model.readable(by).slice(-RECENT).filter(isMeant), a);

/** Returns true if the server has accepted the change. */
const ownerChanges = async (company: Company, path: string, params: Readonly<Record<string, unknown>>) =>
  (await company.insist(OWNER_PERSON, 'PATCH', path, params)).status === 200;

async function describe(company: Company, channel: Channel): Promise<void> {
  const number = company.model.newNumber();
  company.model.describe(channel, number);
  await ownerChanges(company, `/streams/${channel.id}`, { description: textOf(number) });
}

async function markUnread(company: Company, by: number, message: Message): Promise<void> {
  const params = { messages: [message.id], op: 'remove', flag: 'read' };
  const { status } = await company.insist(by, 'POST', '/messages/flags', params);
  if (status === 200) message.unread.add(by);
}

async function readAll(company: Company, by: number): Promise<void> {
  const { status } = await company.insist(by, 'POST', '/mark_all_as_read', {});
  if (status === 200) for (const message of company.model.messages.values()) message.unread.delete(by);
  if (!company.engine.isDiskFailing) await company.checkState(by);
}

/** Lets the moderators and a group, or some people, subscribe to a channel. */
async function grant(company: Company, channel: Channel, to: 'groups' | readonly number[]): Promise<void> {
  const { model, people } = company;
  const { moderators, crew } = company.groups;
  const grantees = to === 'groups' ? [] : to;
  const value = {
    direct_members: grantees.map((person) => people[person]!.id),
    direct_subgroups: to === 'groups' ? [moderators, crew] : [],
  };
  if (!(await ownerChanges(company, `/streams/${channel.id}`, { can_subscribe_group: { new: value } }))) return;
  model.changeAccess(() => {
    channel.grantsGroups = to === 'groups';
    channel.grantees.clear();
    for (const person of grantees) channel.grantees.add(person);
  });
}

async function react(company: Company, step: Choices, emoji: string): Promise<void> {
  const message = pickRecent(company, step);
  if (!message) return;
  const { by, b } = step;
  const reaction = `${by} ${emoji}`;
  const hasReacted = message.reactions.has(reaction);
  const [method, path] = [hasReacted ? 'DELETE' : 'POST', `/messages/${message.id}/reactions`] as const;
  const { status, json } = await company.insist(by, method, path, { emoji_name: emoji });
  if (status !== 200 && json.code !== 'REACTION_ALREADY_EXISTS' && json.code !== 'REACTION_DOES_NOT_EXIST') return;
  if (hasReacted) message.reactions.delete(reaction);
  else {
    message.reactions.add(reaction);
    // A new reaction creates a row, as for a delivered message (messages §12.2).
    if (!message.rows.has(by)) company.doubtNewest(by);
    message.rows.add(by);
  }
  company.publish('reaction', message, company.model.watchers(message));
  if (hasReacted || emoji !== 'tada') return;
  // Some people react twice, and some take it back at once.
  if (b < 0.15) await react(company, step, 'heart');
  if (b < 0.3) await react(company, step, emoji);
  // Others want to return to the message, and then read everything.
  if (b > 0.7 && company.model.isFollowing(by, message)) {
    await markUnread(company, by, message);
    await readAll(company, by);
  }
  if (b < 0.15 && !company.engine.isDiskFailing) await company.checkState(by);
}

/** Actions by name, with their weight among everything that people do. */
export const ACTIONS = {
  send: { weight: 25, play: send },
  edit: {
    weight: 6,
    play: async (company, step) => {
      const { model } = company;
      const message = pickRecent(company, step, ({ sender }) => sender === step.by || step.b < 0.2);
      if (!message) return;
      const { by } = step;
      const number = model.newNumber();
      model.alsoMeans(message, number);
      const params = { content: textOf(number) };
      const { status } = await company.attempt(message.sender === by, by, 'PATCH', `/messages/${message.id}`, params);
      if (status !== 200) return;
      model.edit(message, number);
      company.publish('update', message, model.watchers(message));
    },
  },
  move: {
    weight: 8,
    play: async (company, step) => {
      const { model } = company;
      const { by, a, b } = step;
      const message = pickRecent(company, step, ({ destination }) => 'channel' in destination);
      if (!message || !('channel' in message.destination)) return;
      const from = message.destination;
      const isTarget = (each: Channel) => (b < 0.85 ? model.mayMoveTo(by, each) : !model.mayPost(by, each));
      const targets = channelsOf(company).filter((each) => each !== from.channel && isTarget(each));
      const to = (b < 0.4 ? null : pick(targets, other(b))) ?? from.channel;
      const keepsTopic = to !== from.channel && (b * 10) % 1 < 0.5;
      const topic = keepsTopic ? from.topic : pick(TOPICS, other(a))!;
      if (to === from.channel && topic === from.topic) return;
      const mode = pick(['change_one', 'change_later', 'change_all'], other(b + a))!;
      const same = model
        .inTopic(from.channel, from.topic)
        .filter((each) => to === from.channel || model.mayRead(by, each));
      const moved = {
        change_one: [message],
        change_later: same.filter(({ id }) => id >= message.id),
        change_all: same,
      }[mode]!;
      const isAllowed = to === from.channel || model.mayMoveTo(by, to);
      const { status, json } = await company.attempt(isAllowed, by, 'PATCH', `/messages/${message.id}`, {
        ...(topic !== from.topic && { topic }),
        ...(to !== from.channel && { stream_id: to.id }),
        propagate_mode: mode,
        send_notification_to_new_thread: false,
      });
      // A repeated request finds that the first one has moved the messages.
      const isMoved = company.mayHaveRepeated && MOVED.has(json.msg);
      if (status !== 200 && !isMoved) return;
      const before = moved.map((each) => ({ ...model.watchers(each), maybe: new Set(model.readersOf(each)) }));
      const watching = new Set(before.flatMap(({ always, now }) => [...always, ...now]));
      const holding = new Set(moved.flatMap(({ rows }) => [...rows]));
      model.move(moved, to, topic === from.topic ? null : topic);
      for (const [index, each] of moved.entries()) {
        const audience = { ...before[index]!, watching, holding, from: from.channel };
        company.publishMove(each, audience, message, to !== from.channel);
      }
    },
  },
  delete: {
    weight: 8,
    play: async (company, step) => {
      const message = await pickForDeletion(company, step);
      if (!message) return;
      const isAllowed = mayDelete(company, step.by, message);
      const { status, json } = await company.attempt(isAllowed, step.by, 'DELETE', `/messages/${message.id}`, {});
      // A repeated request finds that the first one has deleted the message.
      const isDone = status === 200 || (json.msg === 'Invalid message(s)' && company.mayHaveRepeated);
      if (!isDone) return;
      removeAll(company, step.by, [message]);
    },
  },
  erase: { weight: 1, play: (company) => company.eraseNewcomer() },
  react: { weight: 10, play: (company, step) => react(company, step, 'tada') },
  read: {
    weight: 10,
    play: async (company, { by, a, b }) => {
      const { model } = company;
      const unread = model.unreadOf(by);
      if (a < 0.1) return readAll(company, by);
      const ids = unread.slice(Math.floor(b * unread.length)).slice(0, 20);
      if (ids.length === 0) return;
      const params = { messages: ids, op: 'add', flag: 'read' };
      const { status } = await company.insist(by, 'POST', '/messages/flags', params);
      if (status === 200) for (const id of ids) model.messages.get(id)!.unread.delete(by);
    },
  },
  markUnread: {
    weight: 6,
    play: async (company, { by, a, b }) => {
      const { model } = company;
      const isChannel = other(a) < 0.5;
      const isMeant = ({ rows, destination }: Message) => rows.has(by) && 'channel' in destination === isChannel;
      const message = pick(model.readable(by).filter(isMeant).slice(-RECENT), a);
      if (!message) return;
      const { destination } = message;
      if ('channel' in destination) {
        const { channel, topic } = destination;
        const policy = { stream_id: channel.id, topic, visibility_policy: Math.floor(other(b) * 4) };
        await company.insist(by, 'POST', '/user_topics', policy);
        // The person changes their mind, and another client spells the topic in another way.
        const last = { ...policy, topic: topic.toUpperCase(), visibility_policy: Math.floor(b * 4) };
        const { status } = await company.insist(by, 'POST', '/user_topics', last);
        const line = `${last.topic} ${last.visibility_policy}`;
        const isStored = last.visibility_policy === 0 || (await company.policiesOf(by)).includes(line);
        if (status === 200 && !isStored && !company.engine.isDiskFailing)
          throw new Violation('what was acknowledged exists', `p${by} chose ${line}`);
        if (!channel.subscribers.has(by)) return;
      } else {
        // No event names the starred messages of a channel that somebody leaves.
        const star = { messages: [message.id], op: b < 0.7 ? 'add' : 'remove', flag: 'starred' };
        await company.insist(by, 'POST', '/messages/flags', star);
        for (const op of ['add', 'remove'])
          await company.insist(by, 'POST', '/messages/flags', { messages: [message.id], op, flag: 'collapsed' });
      }
      await markUnread(company, by, message);
      if (b < 0.35) await readAll(company, by);
    },
  },
  search: {
    weight: 3,
    play: async (company, step) => {
      const message = pick(company.model.readable(step.by), step.a);
      if (message) await company.checkSearch(step.by, message);
    },
  },
  spy: { weight: 4, play: spy },
  createChannel: {
    weight: 1,
    play: async (company, { by, a, b }) => {
      const { model } = company;
      if (model.channels.size >= 8) return;
      const name = `channel ${model.newNumber()}`;
      const isPrivate = a < 0.5;
      const isShared = !isPrivate || b < 0.5;
      const subscribers = [...new Set([by, OWNER_PERSON])];
      const { status, json } = await company.insist(by, 'POST', '/channels/create', {
        ...{ name, invite_only: isPrivate, history_public_to_subscribers: isShared },
        subscribers: subscribers.map((person) => company.people[person]!.id),
      });
      let id = json.id;
      if (status === 409 && company.mayHaveRepeated) {
        id = (await company.insist(by, 'GET', '/get_stream_id', { stream: name })).json.stream_id;
      } else if (status !== 200) return;
      const channel = { id, name, isPrivate, isShared, isForModerators: false, grantsGroups: false, creator: by };
      model.channels.set(channel.id, { ...channel, subscribers: new Set(subscribers), grantees: new Set() });
    },
  },
  join: {
    weight: 5,
    play: async (company, { by, a }) => {
      const { model } = company;
      const channel = pickChannel(company, a, ({ subscribers }) => !subscribers.has(by));
      if (!channel) return;
      const params = { subscriptions: [{ name: channel.name }] };
      const isAllowed = !model.isGuest(by) && model.mayReadChannel(by, channel);
      const { status } = await company.attempt(isAllowed, by, 'POST', '/users/me/subscriptions', params);
      if (status === 200) model.subscribe(by, channel);
    },
  },
  invite: {
    weight: 4,
    play: async (company, step) => {
      const { model } = company;
      const { by, a, b } = step;
      const channel = pickChannel(company, a, ({ subscribers }) => subscribers.has(by));
      const outside = [...company.people.keys()].filter((person) => !channel?.subscribers.has(person));
      const guest = pick(outside, b);
      if (!channel || guest === undefined) return;
      await company.invite(by, channel, [guest]);
      await lookBack(company, guest, channel, a);
      // The first event of the new subscriber.
      if (model.mayPost(by, channel)) await send(company, step, undefined, null, { channel, topic: TOPICS[0]! });
    },
  },
  leave: {
    weight: 6,
    play: async (company, { by, a }) => {
      const { model } = company;
      const channel = pickChannel(company, a, ({ subscribers }) => subscribers.has(by));
      if (!channel || by === OWNER_PERSON) return;
      const params = { subscriptions: [channel.name] };
      const { status } = await company.insist(by, 'DELETE', '/users/me/subscriptions', params);
      // A repeated request finds that the person has left.
      if (status === 200 || company.mayHaveRepeated) model.unsubscribe(by, channel);
    },
  },
  promote: {
    weight: 7,
    play: async (company, { a, b }) => {
      const { model, people } = company;
      const person = 1 + Math.floor(a * (people.length - 1));
      const role = pick(ROLES, b)!;
      if (person >= people.length) return;
      if (!(await ownerChanges(company, `/users/${people[person]!.id}`, { role }))) return;
      model.changeAccess(() => {
        model.roles[person] = role;
      });
      await company.checkState(person);
    },
  },
  changeChannel: {
    weight: 5,
    play: async (company, { a, b }) => {
      const { model, people } = company;
      const channel = pickChannel(company, a, ({ subscribers }) => subscribers.has(OWNER_PERSON));
      if (!channel) return;
      const path = `/streams/${channel.id}`;
      if (b < 0.3) {
        const isShared = channel.isPrivate || b < 0.15;
        const privacy = { is_private: !channel.isPrivate, history_public_to_subscribers: isShared };
        if (await ownerChanges(company, path, privacy)) {
          model.changeAccess(() => {
            channel.isPrivate = !channel.isPrivate;
            channel.isShared = isShared;
          });
        }
      } else if (b < 0.6) {
        const value = { new: channel.isForModerators ? company.groups.everyone : company.groups.moderators };
        const isDone = await ownerChanges(company, path, { can_send_message_group: value });
        if (isDone) channel.isForModerators = !channel.isForModerators;
      } else {
        const some = [...people.keys()].filter((person) => (b * 97 * (person + 1)) % 1 < 0.2);
        await grant(company, channel, b < 0.8 ? 'groups' : some);
      }
    },
  },
  changeGroup: {
    weight: 2,
    play: async (company, { a, b }) => {
      const { model, people, groups } = company;
      if (b < 0.4) {
        const value = { new: model.limitsGuests ? groups.everyone : groups.members };
        if (await ownerChanges(company, '/realm', { can_access_all_users_group: value }))
          model.changeAccess(() => Object.assign(model, { limitsGuests: !model.limitsGuests }));
        return;
      }
      const change = async (path: string, isIn: boolean, id: number) =>
        (await company.insist(OWNER_PERSON, 'POST', `/user_groups/${path}`, { [isIn ? 'delete' : 'add']: [id] }))
          .status === 200 || company.mayHaveRepeated;
      if (b < 0.65) {
        const isIn = model.areHelpersInCrew;
        const hidden = pickChannel(company, a, (each) => each.isPrivate && each.subscribers.has(OWNER_PERSON));
        if (hidden) await grant(company, hidden, 'groups');
        // Members have most to gain, because guests get no rights from groups.
        const member = model.roles.findIndex((role, each) => role === MEMBER && !model.helpers.has(each));
        if (member > 0 && (await change(`${groups.helpers}/members`, false, people[member]!.id)))
          model.changeAccess(() => model.helpers.add(member));
        // A repeated request finds that the first one has changed the group.
        if (!(await change(`${groups.crew}/subgroups`, isIn, groups.helpers))) return;
        model.changeAccess(() => Object.assign(model, { areHelpersInCrew: !isIn }));
        for (const helper of model.helpers) await company.checkPerson(helper);
        return;
      }
      const person = Math.floor(a * people.length);
      const name = b < 0.8 ? 'helpers' : 'crew';
      const isMember = model[name].has(person);
      if (!(await change(`${groups[name]}/members`, isMember, people[person]!.id))) return;
      model.changeAccess(() => (isMember ? model[name].delete(person) : model[name].add(person)));
      await company.checkPerson(person);
    },
  },
  describe: { weight: 2, play: async (company, { a }) => describe(company, pick(channelsOf(company), a)!) },
  schedule: {
    weight: 3,
    play: async (company, step) => {
      const { model, time } = company;
      const destination = destinationOf(company, step);
      if (!destination) return;
      const number = model.newNumber();
      // A third is due before event queues expire.
      const dueAt = time.now() + 60 + Math.floor(other(step.b) ** 3 * 4 * 3600);
      const planned = { number, author: step.by, dueAt, destination };
      model.announce(number, step.by, { ...planned, id: 0, isExcused: true });
      const { status } = await company.insist(step.by, 'POST', '/scheduled_messages', {
        ...company.wireOf(destination),
        ...{ content: textOf(number), scheduled_delivery_timestamp: dueAt, read_by_sender: true },
      });
      if (status !== 200) return;
      const id = await company.keepOneScheduled(step.by, number);
      model.schedule({ ...planned, id, isExcused: false });
    },
  },
  remind: {
    weight: 4,
    play: async (company, step) => {
      const { model, time } = company;
      const message = pickRecent(company, step);
      if (!message) return;
      const number = model.newNumber();
      const author = step.by;
      model.announce(number, author);
      message.quotedFor.add(author);
      message.file?.quotedFor.add(author);
      const dueAt = time.now() + 60 + Math.floor(step.b ** 3 * 8 * 3600);
      const { status } = await company.insist(author, 'POST', '/reminders', {
        ...{ message_id: message.id, scheduled_delivery_timestamp: dueAt, note: `zq${number}zq` },
      });
      if (status === 200 && !company.mayHaveRepeated)
        model.reminders.add({ message, number, author, dueAt, checkAfter: dueAt });
    },
  },
  ask: {
    weight: 3,
    play: async (company, step) => {
      const { model, time } = company;
      const { by, b } = step;
      const number = model.newNumber();
      const destination = { participants: new Set([by]) };
      model.announce(number, by);
      model.questions.set(number, { by, askedAtMs: time.elapsedMs(), answer: 0 });
      const params = {
        type: 'direct',
        to: [company.notifications.botId],
        content: textOf(number),
        read_by_sender: true,
      };
      const local = { queue_id: company.devices.get(by)?.queueId ?? 'none', local_id: company.localIdOf(by) };
      const { status, json } = await company.insist(by, 'POST', '/messages', { ...params, ...local });
      if (status === 200) company.adopt(model.send(json.id, by, destination, number, time.elapsedMs()));
      else model.questions.delete(number);
      // The bot has not answered yet.
      if (b < 0.3) await ACTIONS.ask.play(company, { ...step, b: 1 });
    },
  },
  draft: {
    weight: 7,
    play: async (company, step) => {
      const { model } = company;
      const { by, a, b } = step;
      const own = [...model.drafts].filter(([, { author }]) => author === by).map(([id]) => id);
      const id = pick(own, a);
      if (id !== undefined && b < 0.3) {
        const { status } = await company.insist(by, 'DELETE', `/drafts/${id}`, {});
        if (status !== 200 && !company.mayHaveRepeated) return;
        model.formerDrafts.add(model.drafts.get(id)!.number);
        model.drafts.delete(id);
        return;
      }
      const number = model.newNumber();
      model.announce(number, by);
      const message = (a < 0.5 && pickRecent(company, step)) || null;
      message?.quotedFor.add(by);
      const quote = message && `[said](#narrow/near/${message.id}):\n~~~quote\n${textOf(message.number)}\n~~~\n`;
      const draft = { type: '', to: [], topic: '', content: (quote ?? '') + textOf(number) };
      if (id !== undefined && b < 0.75) {
        const { status } = await company.insist(by, 'PATCH', `/drafts/${id}`, { draft });
        if (status !== 200) return;
        model.formerDrafts.add(model.drafts.get(id)!.number);
        model.drafts.set(id, { number, author: by, message });
        return;
      }
      const { status, json } = await company.insist(by, 'POST', '/drafts', { drafts: [draft] });
      // A repeated request adds two.
      if (status === 200 && !company.mayHaveRepeated) model.drafts.set(json.ids[0], { number, author: by, message });
    },
  },
  ...FILE_ACTIONS,
  ...TOPIC_ACTIONS,
  goOffline: {
    weight: 8,
    // Event queues outlive a few steps, but not the time until the next round.
    play: async ({ offline }, { by, a }) => {
      offline.set(by, a < 0.75 ? 2 + Math.floor(a * 8) : Number.POSITIVE_INFINITY);
    },
  },
  comeBack: { weight: 6, play: async (company, { by }) => company.comeBack(by) },
  wipe: {
    weight: 1,
    play: async (company, { by }) => {
      company.devices.delete(by);
      await company.connect(by);
      // The new queue reads the log, at a time when others may send.
      await company.catchUp(by);
    },
  },
} satisfies Readonly<Record<string, { readonly weight: number; readonly play: Play }>>;
