import { ReopenChannel } from '@parley/domain/channels';
import { type Caller, type ChannelId, DomainError } from '@parley/domain/kernel';
import { SendMessage, type SendMessageInput } from '@parley/domain/writing';
import type { Resolve } from '../kernel/resolve.js';

interface Parts {
  readonly resolve: Resolve;
  readonly channelId: (caller: Caller, channel: string | number) => ChannelId | Promise<ChannelId>;
}

/** Sends a message. A closed channel is reopened for it. */
export async function sendReopening(
  parts: Parts,
  who: Caller,
  channel: string | number | undefined,
  input: SendMessageInput,
): Promise<{ readonly id: number; readonly isRepeated: boolean }> {
  const send = async () => {
    const { id, isRepeated } = await parts.resolve(SendMessage).execute(who, input);
    return { id, isRepeated };
  };
  try {
    return await send();
  } catch (error) {
    const isRejected = error instanceof DomainError && error.is('CANNOT_POST_IN_CHANNEL');
    if (!isRejected || channel === undefined || !(await isReopened(parts, who, channel))) throw error;
    return send();
  }
}

async function isReopened({ resolve, channelId }: Parts, who: Caller, channel: string | number): Promise<boolean> {
  try {
    return await resolve(ReopenChannel).execute(who, { channelId: await channelId(who, channel) });
  } catch (error) {
    // The sender cannot access the channel.
    if (error instanceof DomainError && error.is('UNKNOWN_CHANNEL')) return false;
    throw error;
  }
}
