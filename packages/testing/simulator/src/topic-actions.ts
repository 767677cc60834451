import { type Choices, other, type Play, pick } from './choices.js';
import type { Company } from './company.js';
import { ADMINISTRATOR, type Message, OWNER_PERSON, type Person } from './model.js';
import { destinationOf, send } from './sending.js';

/** Minimum number of messages that people write in quick succession. */
const DISCUSSED = 32;
/** Number of messages of a tenth of the discussions, which fill the queues of clients and a topic. */
const LONG_DISCUSSION = 300;

/** Removes deleted messages from the model, and expects the events. */
export function removeAll(company: Company, by: Person, messages: readonly Message[]): void {
  const { model, time } = company;
  const watchers = messages.map((message) => model.watchers(message));
  // One event names all messages that the watcher of any of them may read.
  const watching = new Set(watchers.flatMap(({ always, now }) => [...always, ...now]));
  const maybe = messages.map((message) => new Set(model.readersOf(message).filter((each) => watching.has(each))));
  model.delete(messages, time.elapsedMs());
  for (const [index, message] of messages.entries()) {
    const { always, now } = watchers[index]!;
    company.publish('delete', message, { always: new Set([...always, by]), now, maybe: maybe[index]! });
  }
}

/** People write one after another in a topic before anybody polls. */
async function discuss(company: Company, step: Choices): Promise<void> {
  const { model, present } = company;
  const destination = destinationOf(company, { ...step, a: 0.25 + step.a * 0.75 });
  if (!destination || !('channel' in destination)) return;
  const writers = present.filter((person) => model.mayPost(person, destination.channel));
  const count = step.b > 0.9 ? LONG_DISCUSSION : Math.floor(DISCUSSED * (1 + step.b));
  for (let n = count; n > 0; n--) {
    const by = pick(writers, other(step.b + n))!;
    await send(company, { ...step, by }, undefined, null, destination);
  }
}

/** Discussions, and deletions of whole topics. */
export const TOPIC_ACTIONS = {
  discuss: { weight: 1, play: discuss },
  deleteTopic: {
    weight: 2,
    play: async (company, step) => {
      const { model } = company;
      // The others may not.
      const by = step.b < 0.2 || model.roles[step.by]! <= ADMINISTRATOR ? step.by : OWNER_PERSON;
      const message = pick(
        model.readable(by).filter(({ destination }) => 'channel' in destination),
        step.a,
      );
      if (!message || !('channel' in message.destination)) return;
      const { channel, topic } = message.destination;
      const deleted = model.inTopic(channel, topic).filter((each) => model.mayRead(by, each));
      const isAllowed = model.roles[by]! <= ADMINISTRATOR;
      const path = `/streams/${channel.id}/delete_topic`;
      const { status } = await company.attempt(isAllowed, by, 'POST', path, { topic_name: topic });
      if (status === 200) removeAll(company, by, deleted);
    },
  },
} satisfies Readonly<Record<string, { readonly weight: number; readonly play: Play }>>;
