import type { Transaction, UserId } from '@parley/domain/kernel';
import type { Message, NewMessage, SentFlags, Viewer } from '@parley/domain/messages';
import { subscribe } from '../builders.js';
import { idsOf } from '../contracts/storage-under-test.js';
import { BOT, type ChannelName, type Person, type Step } from './history.js';
import { describe, resolve } from './narrows.js';
import { idsOfWhich, type World } from './world.js';

class Fails extends Error {}

/** Executes a step as one transaction with its event, like use cases. Returns the repository's result. */
export async function play(world: World, step: Step, number: number): Promise<unknown> {
  const { uow, realm } = world.fixture;
  try {
    return await uow.write(realm.id, async (tx) => {
      const { answer, words } = await perform(world, tx, step);
      await tx.events.append(realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      world.story[number] = `${words}${step.fails ? ', and is rolled back' : ''}`;
      if (step.fails) throw new Fails();
      if (step.kind === 'send') world.sent.set(number, idsOf(answer as readonly Message[]));
      return answer;
    });
  } catch (error) {
    if (error instanceof Fails) return 'rolled back';
    throw error;
  }
}

interface Performance {
  readonly answer: unknown;
  readonly words: string;
}

async function perform(world: World, tx: Transaction, step: Step): Promise<Performance> {
  const { fixture } = world;
  const { realm } = fixture;
  const viewer = (name: Person): Viewer => fixture.viewer(name);
  switch (step.kind) {
    case 'send':
      return send(world, tx, step);
    case 'read':
    case 'unread': {
      const ids = idsOfWhich(world, step.which);
      const answer = await tx.personal.setRead(viewer(step.who), ids, step.kind === 'read');
      return { answer, words: `${step.who} marks ${ids} ${step.kind}` };
    }
    case 'readNarrow': {
      const answer = await tx.personal.markRead(viewer(step.who), await resolve(world, tx, step.narrow));
      return { answer, words: `${step.who} marks everything read ${describe(step.narrow)}` };
    }
    case 'addHistorical': {
      const ids = idsOfWhich(world, step.which);
      const answer = await tx.personal.addHistorical(viewer(step.who), ids);
      return { answer, words: `${step.who} takes from history ${ids}` };
    }
    case 'set':
    case 'clear': {
      const ids = idsOfWhich(world, step.which);
      const answer = await tx.personal.setFlag(viewer(step.who), ids, step.flag, step.kind === 'set');
      return { answer, words: `${step.who} ${step.kind}s ${step.flag} of ${ids}` };
    }
    case 'markAllRead': {
      const answer = await tx.personal.markAllRead(viewer(step.who));
      return { answer, words: `${step.who} marks everything read` };
    }
    case 'mute':
    case 'unmute': {
      const sender = fixture.user(step.sender).id;
      if (step.who === step.sender) return { answer: null, words: 'nothing happens' };
      if (step.kind === 'mute') await tx.personal.muteSender(viewer(step.who), sender, 5);
      else await tx.personal.unmuteSender(viewer(step.who), sender);
      return { answer: null, words: `${step.who} ${step.kind}s ${step.sender}` };
    }
    case 'subscribe':
      if (!(await isActive(world, tx, step.who))) return { answer: null, words: 'nothing happens' };
      await subscribe(tx, fixture.channel(step.channel), [fixture.user(step.who).id]);
      return { answer: null, words: `${step.who} subscribes to ${step.channel}` };
    case 'unsubscribe':
      await unsubscribe(world, tx, step.who, step.channel);
      return { answer: null, words: `${step.who} leaves ${step.channel}` };
    case 'deactivate':
    case 'reactivate':
      await setActive(world, tx, step.who, step.kind === 'reactivate');
      return { answer: null, words: `${step.who} is ${step.kind}d` };
    case 'move': {
      const found = await tx.messages.list(realm.id, idsOfWhich(world, step.which));
      const first = found.find(({ channelId }) => channelId !== null);
      const ids = found.filter((message) => message.recipientId === first?.recipientId).map(({ id }) => id);
      const target = fixture.channel(step.to);
      const mover = { userId: fixture.user('ann').id, editedAt: fixture.clock.now() };
      const channelId = first?.recipientId === target.recipientId ? null : target.id;
      if (first) await tx.edits.add(realm.id, { ...mover, topic: step.topic, channelId }, ids);
      await tx.moves.move(realm.id, first ? ids : [], {
        channelId: target.id,
        recipientId: target.recipientId,
        topic: step.topic,
        isHistoryProtected: target.privacy === 'privateProtectedHistory',
      });
      return { answer: ids, words: `${ids} move to ${step.to}, ${step.topic ?? 'each to its topic'}` };
    }
    case 'moveDirect': {
      const found = await tx.messages.list(realm.id, idsOfWhich(world, step.which));
      const ids = found.filter(({ channelId }) => channelId === null).map(({ id }) => id);
      const people = step.to.map((name) => fixture.user(name).id);
      await tx.moves.moveDirect(realm.id, ids, await tx.recipients.openDirect(realm.id, people));
      return { answer: ids, words: `${ids} move to the conversation of ${step.to}` };
    }
    case 'edit':
      return edit(world, tx, step);
    case 'remove': {
      const ids = idsOfWhich(world, step.which);
      const deletion = { deletedAt: fixture.clock.now(), deletedBy: null };
      await tx.archive.keep(realm.id, ids, deletion);
      return { answer: await tx.messages.remove(realm.id, ids), words: `${ids} are deleted` };
    }
  }
}

async function edit(
  { fixture, ...world }: World,
  tx: Transaction,
  { which, naming, mentionsChannel, has }: Step & { kind: 'edit' },
): Promise<Performance> {
  const { realm, clock } = fixture;
  const [id] = idsOfWhich({ fixture, ...world }, which);
  const userIds = [...fixture.users.values()].map((user) => user.id);
  const holders = new Set((await tx.personal.filterHolders(realm.id, [id!], userIds)).get(id!));
  const exceptions = new Map<UserId, SentFlags>();
  for (const [name, flag] of naming) {
    const userId = fixture.user(name).id;
    if (holders.has(userId)) exceptions.set(userId, { ...exceptions.get(userId), [flag]: true });
  }
  const change = { userId: fixture.user('ann').id, editedAt: clock.now(), topic: null, channelId: null };
  await tx.edits.add(realm.id, change, [id!], id!);
  const content = `edited, naming ${[...exceptions.keys()]}`;
  await tx.messages.edit(realm.id, id!, {
    content,
    renderedContent: `<p>${content}</p>`,
    editedAt: clock.now(),
    isMeMessage: false,
    mentionsChannel,
    hasLink: has.includes('hasLink'),
    hasImage: has.includes('hasImage'),
    hasAttachment: has.includes('hasAttachment'),
    exceptions,
  });
  const words = `${id} is ${content}${mentionsChannel ? ', naming the channel' : ''}${has.length > 0 ? `, with ${has}` : ''}`;
  return { answer: null, words };
}

async function send(world: World, tx: Transaction, step: Step & { kind: 'send' }): Promise<Performance> {
  const { fixture } = world;
  const sender = fixture.user(step.from).id;
  const channel = typeof step.to === 'string' ? fixture.channel(step.to) : null;
  const recipientId =
    channel?.recipientId ??
    (await tx.recipients.openDirect(
      fixture.realm.id,
      [step.from, ...step.to].map((name) => fixture.user(name).id),
    ));
  const mentioned = step.naming.filter(([, naming]) => naming === 'mentioned').map(([name]) => fixture.user(name).id);
  const said = `Hello from ${step.from}`;
  const content: NewMessage = {
    realmId: fixture.realm.id,
    senderId: sender,
    recipientId,
    channelId: channel?.id ?? null,
    topic: channel ? step.topic : '',
    content: said,
    renderedContent: `<p>${said}${mentioned.map((id) => ` <span class="user-mention" data-user-id="${id}">@</span>`).join('')}</p>`,
    sentAt: fixture.clock.now(),
    clientName: 'website',
    isMeMessage: false,
    mentionsChannel: step.mentionsChannel,
    ...Object.fromEntries(step.has.map((property) => [property, true])),
    hasLink: false,
    hasImage: false,
    hasAttachment: false,
    topicLinks: [],
    isReadByDefault: step.isReadByDefault,
    readBy: step.isReadBySender ? [sender] : [],
    exceptions: await exceptionsOf(world, tx, step),
  };
  const messages: Message[] = [];
  while (messages.length < step.times) messages.push(await tx.messages.append(content));
  const naming = [...content.exceptions].map(([id, flags]) => `${id} ${Object.keys(flags)}`);
  const words = [
    `${step.from} (${sender}) sends ${idsOf(messages)} to ${channel ? `${step.to}/${step.topic}` : step.to}`,
    ...(naming.length > 0 ? [`naming ${naming}`] : []),
    ...(step.mentionsChannel ? ['naming the channel'] : []),
    ...(step.has.length > 0 ? [`with ${step.has}`] : []),
    ...(step.isReadByDefault ? ['read by default'] : []),
    ...(step.isReadBySender ? ['read by the sender'] : []),
  ];
  return { answer: messages, words: words.join(', ') };
}

/** Returns mention flags, limited to receivers and the bot; omits invalid combinations. */
async function exceptionsOf(
  world: World,
  tx: Transaction,
  { to, from, naming, isReadByDefault, isReadBySender }: Step & { kind: 'send' },
): Promise<Map<UserId, SentFlags>> {
  const { fixture } = world;
  const exceptions = new Map<UserId, SentFlags>();
  for (const [name, flag] of naming) {
    const { id } = fixture.user(name);
    const isReached =
      typeof to === 'string'
        ? await tx.channels.isSubscribed(fixture.realm.id, fixture.channel(to).id, id)
        : to.includes(name) || name === from;
    const isNamedBot = name === BOT && flag === 'mentioned' && !isReadByDefault;
    if (!isNamedBot && !(isReached && (await isActive(world, tx, name)))) continue;
    if (flag === 'unread' && (!isReadByDefault || (name === from && isReadBySender))) continue;
    exceptions.set(id, { ...exceptions.get(id), [flag]: true });
  }
  return exceptions;
}

async function isActive({ fixture }: World, tx: Transaction, name: Person): Promise<boolean> {
  return (await tx.users.find(fixture.realm.id, fixture.user(name).id))!.isActive;
}

async function unsubscribe({ fixture }: World, tx: Transaction, name: Person, channelName: ChannelName): Promise<void> {
  const { id, recipientId } = fixture.channel(channelName);
  const userId = fixture.user(name).id;
  const rows = await tx.channels.listSubscriptions(fixture.realm.id, userId);
  const own = rows.filter(({ channelId }) => channelId === id);
  await tx.channels.putSubscriptions(own.map((row) => ({ ...row, isActive: false })));
  await tx.personal.closeSpans(fixture.realm.id, [recipientId], [userId]);
}

/** Deactivates or reactivates a user, who keeps subscriptions but receives nothing while deactivated. */
async function setActive(world: World, tx: Transaction, name: Person, active: boolean): Promise<void> {
  const { fixture } = world;
  const { realm } = fixture;
  const user = (await tx.users.find(realm.id, fixture.user(name).id))!;
  if (user.isActive === active) return;
  await tx.users.update({ ...user, isActive: active });
  const channels = await tx.channels.list(realm.id, await tx.channels.listSubscribedIds(realm.id, user.id));
  const direct = await tx.recipients.listRecentDirect(realm.id, user.id, 1000);
  for (const { recipientId } of [...channels, ...direct]) {
    if (active) await tx.personal.openSpans(realm.id, [recipientId], [user.id]);
    else await tx.personal.closeSpans(realm.id, [recipientId], [user.id]);
  }
}
