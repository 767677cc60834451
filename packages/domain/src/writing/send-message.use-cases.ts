import type { Caller } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import { MessageSender, type SendMessageInput, type SentMessage } from './message-sender.js';
import { findFirstSend, rememberSend } from './send-once.js';
import type { ContentDigest } from './update-message.use-cases.js';

/** Sends a message to a channel or to users (messages §3). */
export class SendMessage {
  static readonly inject = [MessageSender, 'clock', 'contentDigest'] as const;
  constructor(
    private readonly sender: MessageSender,
    private readonly clock: Clock,
    private readonly digest: ContentDigest = (text) => text,
  ) {}

  /** @throws DomainError the codes of `MessageSender.post` */
  execute(caller: Caller, input: SendMessageInput): Promise<SentMessage> {
    const { echo } = input;
    const digest = echo ? this.digest(JSON.stringify([input.to, input.topic, input.content])) : '';
    const retry = { echo, digest, now: this.clock.now() };
    return this.sender.post(caller, input, async (tx, send) => {
      const first = await findFirstSend(tx, caller, retry);
      if (first !== null) return { id: first, newVisibility: null, isRepeated: true };
      const sent = await send();
      // The queue may have expired: clients send with the id of the queue that they had.
      if (echo) {
        const { realmId, userId } = caller;
        await rememberSend(tx, { ...echo, realmId, userId, messageId: sent.id, digest, sentAt: retry.now });
      }
      return sent;
    });
  }
}
