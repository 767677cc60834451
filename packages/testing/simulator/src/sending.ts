import { type Choices, other, pick } from './choices.js';
import type { Company } from './company.js';
import { type Channel, contentOf, type Destination, type StoredFile } from './model.js';
import { Violation } from './violation.js';
import type { Call } from './wire.js';

export const TOPICS = ['lunch', 'Release', 'release', 'garden', 'bugs'];

export const channelsOf = ({ model }: Company): readonly Channel[] => [...model.channels.values()];

/** One of the channels for which the condition holds. */
export const pickChannel = (company: Company, fraction: number, isMeant: (channel: Channel) => boolean) =>
  pick(channelsOf(company).filter(isMeant), fraction);

export function destinationOf(company: Company, { by, a, b }: Choices): Destination | null {
  const { model, people } = company;
  if (a < 0.25) {
    const count = 1 + Math.floor(b * 2);
    const others = [...people.keys()].filter((person) => person !== by);
    const first = Math.floor(other(b) * others.length);
    const chosen = [...others.slice(first), ...others.slice(0, first)].slice(0, count);
    return { participants: new Set([by, ...chosen]) };
  }
  const channel = pickChannel(company, b, (each) => model.mayPost(by, each));
  return channel ? { channel, topic: pick(TOPICS, other(a))! } : null;
}

/** Sends a message; the client repeats the request with the same ids until it is acknowledged. */
export async function send(
  company: Company,
  step: Choices,
  cut: Call['cut'] = undefined,
  file: StoredFile | null = null,
  destination = destinationOf(company, step),
): Promise<void> {
  const { model, time } = company;
  if (!destination) return;
  const number = model.newNumber();
  const sentTo = { ...company.wireOf(destination), content: contentOf({ number, file }), read_by_sender: true };
  // The queue of a client that was offline may have expired; after a failed registration there is none.
  const queueId = company.devices.get(step.by)?.queueId ?? 'none';
  const local = { queue_id: queueId, local_id: company.localIdOf(step.by) };
  model.announce(number, step.by, { id: 0, number, author: step.by, dueAt: 0, destination, isExcused: true });
  const params = { ...sentTo, ...local };
  // Somebody else sends in another second, which is when the server forgets old sends.
  const beforeRetry = async () => {
    await time.advanceTo(time.elapsedMs() + 1000, company.engine);
    await send(company, { ...step, by: (step.by + 1) % company.people.length });
  };
  const options = { cut, beforeRetry };
  const { status, json, body } = await company.insist(step.by, 'POST', '/messages', params, options);
  if (status === 200) {
    const message = model.send(json.id, step.by, destination, number, time.elapsedMs(), file);
    company.adopt(message);
    company.notifications.awaitPush(message);
  }
  // A hook of the application may refuse it, and a guest may not know the receivers.
  else if (
    !(model.limitsGuests && model.isGuest(step.by) && 'participants' in destination) &&
    !company.engine.isDiskFailing &&
    !(company.engine.app && json?.code === 'BAD_REQUEST')
  )
    throw new Violation('who may post, posts', `p${step.by}: ${body}`);
}
