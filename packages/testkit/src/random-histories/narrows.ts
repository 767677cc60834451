import {
  type MessageCondition,
  type MessageFilter,
  type Repositories,
  type Transaction,
  topicKey,
} from '@parley/domain';
import type { Narrow, Term } from './history.js';
import { pickId, recipientOf, type World } from './world.js';

type Reads = Pick<Repositories | Transaction, 'messages'>;

export async function resolve(world: World, r: Reads, { scope, terms, without }: Narrow): Promise<MessageFilter> {
  const conditions: MessageCondition[] = [];
  for (const term of terms) conditions.push(await toCondition(world, r, term));
  return { scope, conditions, withoutRecipients: without.map((name) => recipientOf(world, name)) };
}

async function toCondition(world: World, r: Reads, term: Term): Promise<MessageCondition> {
  const { negated } = term;
  switch (term.kind) {
    case 'recipient': {
      if (typeof term.place === 'string') {
        return { kind: 'recipient', recipientId: recipientOf(world, term.place), negated };
      }
      const message = await r.messages.find(world.scene.realm.id, pickId(world, term.place));
      return message ? { kind: 'recipient', recipientId: message.recipientId, negated } : { kind: 'nothing', negated };
    }
    case 'topic':
      return { kind: 'topic', topicKey: topicKey(term.topic), negated };
    case 'sender':
      return { kind: 'sender', userId: world.scene.user(term.sender).id, negated };
    case 'message':
      return { kind: 'message', messageId: pickId(world, term.pick), negated };
    case 'nothing':
      return { kind: 'nothing', negated };
  }
}

export function describe({ scope, terms, without }: Narrow): string {
  const words = terms.map((term) => {
    const { kind, negated, ...operand } = term;
    return `${negated ? 'not ' : ''}${kind} ${Object.values(operand)}`.trim();
  });
  return `in ${scope} [${words.join(', ')}]${without.length > 0 ? ` without ${without}` : ''}`;
}
