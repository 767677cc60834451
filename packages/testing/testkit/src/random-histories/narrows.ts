import { topicKey } from '@parley/domain/channels';
import type { RecipientId, Repositories, Transaction } from '@parley/domain/kernel';
import type { MessageCondition, MessageFilter } from '@parley/domain/messages';
import type { Narrow, Term } from './history.js';
import { pickId, recipientOf, type World } from './world.js';

type Reads = Pick<Repositories | Transaction, 'messages'>;

export async function resolve(world: World, r: Reads, { scope, terms }: Narrow): Promise<MessageFilter> {
  return { scope, conditions: await toConditions(world, r, terms) };
}

async function toConditions(world: World, r: Reads, terms: readonly Term[]): Promise<MessageCondition[]> {
  const conditions: MessageCondition[] = [];
  for (const term of terms) conditions.push(await toCondition(world, r, term));
  return conditions;
}

async function toCondition(world: World, r: Reads, term: Term): Promise<MessageCondition> {
  switch (term.kind) {
    case 'recipient': {
      const recipientIds: RecipientId[] = [];
      for (const each of term.recipients) {
        const message =
          typeof each === 'number' ? await r.messages.find(world.fixture.realm.id, pickId(world, each)) : null;
        if (typeof each === 'string') recipientIds.push(recipientOf(world, each));
        else if (message) recipientIds.push(message.recipientId);
      }
      return { kind: 'recipient', recipientIds };
    }
    case 'topic':
      return { kind: 'topic', topicKey: topicKey(term.topic) };
    case 'channelTopic':
      return {
        kind: 'channelTopic',
        topics: term.topics.map(([name, topic]) => ({
          recipientId: recipientOf(world, name),
          topicKey: topicKey(topic),
        })),
      };
    case 'sender':
      return { kind: 'sender', userId: world.fixture.user(term.sender).id };
    case 'mentions':
      return { kind: 'mentions', userId: world.fixture.user(term.who).id };
    case 'message':
    case 'fromMessage':
      return { kind: term.kind, messageId: pickId(world, term.pick) };
    case 'not':
      return { kind: 'not', condition: await toCondition(world, r, term.term) };
    case 'anyOf':
    case 'allOf':
      return { kind: term.kind, conditions: await toConditions(world, r, term.terms) };
    default:
      return term;
  }
}

export const describe = ({ scope, terms }: Narrow): string => `in ${scope} [${terms.map(inWords).join(', ')}]`;

function inWords(term: Term): string {
  if (term.kind === 'not') return `not ${inWords(term.term)}`;
  if (term.kind === 'anyOf' || term.kind === 'allOf') return `${term.kind}(${term.terms.map(inWords).join(', ')})`;
  const { kind, ...operands } = term;
  return `${kind} ${JSON.stringify(Object.values(operands))}`;
}
