import { type Choices, pick } from './choices.js';
import type { Company } from './company.js';
import { ADMINISTRATOR, type Channel, MEMBER, type Message, MODERATOR, textOf } from './model.js';
import { pickChannel, TOPICS } from './sending.js';

async function postWithoutPermission(company: Company, { by, b }: Choices): Promise<void> {
  const { model } = company;
  const channel = pickChannel(company, b, (each) => !model.mayPost(by, each));
  if (!channel) return;
  const number = model.newNumber();
  model.announce(number, by);
  // Guests do not know the id of the channel.
  const params = { type: 'channel', to: channel.name, topic: TOPICS[0]!, content: textOf(number) };
  await company.attempt(false, by, 'POST', '/messages', params);
}

/** Somebody who is not an administrator changes what belongs to others. */
async function changeWithoutPermission(company: Company, { by, a, b }: Choices): Promise<void> {
  const { model, people, groups } = company;
  const wanted = { role: model.roles[by] === MODERATOR ? MEMBER : MODERATOR };
  await company.attempt(false, by, 'PATCH', `/users/${people[by]!.id}`, wanted);
  const other = people[(by + 1) % people.length]!;
  await company.attempt(false, by, 'PATCH', `/users/${other.id}`, { full_name: 'Not allowed' });
  const joining = { add: [people[by]!.id] };
  if (!model.crew.has(by)) await company.attempt(false, by, 'POST', `/user_groups/${groups.crew}/members`, joining);
  const foreign = pickChannel(company, a, ({ creator, subscribers }) => creator !== by && subscribers.has(by));
  if (foreign) {
    await company.attempt(false, by, 'PATCH', `/streams/${foreign.id}`, { description: 'Not allowed' });
    const member = pick(
      [...foreign.subscribers].filter((person) => person !== by),
      b,
    );
    const removed = { subscriptions: [foreign.name], principals: [people[member ?? by]!.id] };
    if (member !== undefined) await company.attempt(false, by, 'DELETE', '/users/me/subscriptions', removed);
  }
  const isOfOthers = ([, { author }]: [number, { readonly author: number }]) => author !== by;
  const draft = pick([...model.drafts].filter(isOfOthers), a);
  if (draft) await company.attempt(false, by, 'DELETE', `/drafts/${draft[0]}`, {});
  const scheduled = pick([...model.scheduled].filter(isOfOthers), a);
  if (scheduled) await company.attempt(false, by, 'DELETE', `/scheduled_messages/${scheduled[0]}`, {});
}

/** Somebody reads, writes and changes without permission. */
export async function spy(company: Company, step: Choices): Promise<void> {
  const { by, a } = step;
  const { model } = company;
  await postWithoutPermission(company, step);
  if (model.roles[by]! > ADMINISTRATOR) await changeWithoutPermission(company, step);
  const channel = pickChannel(company, a, (each) => !model.mayKnow(by, each));
  if (channel) await company.insist(by, 'GET', `/streams/${channel.id}`, {});
  const hidden = [...model.messages.values()].filter((message) => !model.mayRead(by, message));
  const foreign = pick(model.foreign, a);
  if (foreign) await company.insist(by, 'GET', `/messages/${foreign.id}`, {});
  if (foreign?.path) await company.insist(by, 'GET', `/user_uploads/${foreign.path}`, {}, { isPage: true });
  const message = pick(hidden, a);
  if (!message) return;
  await lookFor(company, by, message);
}

/** A new subscriber looks for an earlier message of the channel. */
export async function lookBack(company: Company, by: number, channel: Channel, a: number): Promise<void> {
  const { model } = company;
  const isHidden = (message: Message) =>
    'channel' in message.destination &&
    message.destination.channel === channel &&
    !message.isDeleted &&
    !model.mayRead(by, message);
  const earlier = pick([...model.messages.values()].filter(isHidden), a);
  if (earlier) await lookFor(company, by, earlier);
}

/** Somebody searches for a message, and asks for it by its id. */
async function lookFor(company: Company, by: number, message: Message): Promise<void> {
  await company.checkSearch(by, message);
  await company.insist(by, 'GET', `/messages/${message.id}/history`, {});
  await company.insist(by, 'GET', '/messages', { message_ids: [message.id] });
}
