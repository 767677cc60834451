import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { type Addressee, SendMessage } from '../messages/send-message.use-cases.js';
import { BotOwnerWarnings } from '../messages/system-messages.js';

export interface PostIntegrationInput {
  /** Null for a direct message to the owner of the bot. */
  readonly channel: { readonly id: ChannelId } | { readonly name: string } | null;
  readonly topic: string;
  /** Markdown. */
  readonly content: string;
}

/** Posts what another service reported, with the rights of the calling bot (organization §19). */
export class PostIntegration {
  static readonly inject = ['unitOfWork', SendMessage] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly sending: SendMessage,
  ) {}

  /**
   * An unknown channel is not an error, since other services give up a URL that fails; the owner is told.
   * @throws DomainError the codes of `SendMessage` but UNKNOWN_DESTINATION
   */
  async execute(caller: Caller, { channel, topic, content }: PostIntegrationInput): Promise<void> {
    const to = channel === null ? await this.ownerOf(caller) : addresseeOf(channel);
    try {
      await this.sending.execute(caller, { to, topic, content, isReadBySender: true, echo: null });
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNKNOWN_DESTINATION')) throw error;
    }
  }

  private ownerOf({ realmId, userId }: Caller): Promise<Addressee> {
    return this.uow.read(realmId, async ({ users }) => {
      const ownerId = (await users.find(realmId, userId))?.bot?.ownerId ?? userId;
      return { kind: 'userIds', ids: [ownerId] };
    });
  }
}

const addresseeOf = (channel: NonNullable<PostIntegrationInput['channel']>): Addressee =>
  'id' in channel ? { kind: 'channelId', id: channel.id } : { kind: 'channelName', name: channel.name };

/** Tells the owner of the calling bot about a request that the server cannot read, at most once in five minutes. */
export class WarnIntegrationOwner {
  static readonly inject = [BotOwnerWarnings] as const;
  constructor(private readonly warnings: BotOwnerWarnings) {}

  execute(caller: Caller, whatHappened: string): Promise<void> {
    return this.warnings.warnOf(caller, whatHappened);
  }
}
