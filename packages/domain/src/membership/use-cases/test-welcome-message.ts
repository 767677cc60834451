import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import { trim } from '../../kernel/text.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { SystemMessages } from '../../messages/system-messages.js';
import { canChangeRealm } from '../../realms/realm-permissions.js';

export interface TestWelcomeMessageInput {
  readonly text: string;
}

/** Shows administrators what newcomers would be sent (organization §10.6). */
export class TestWelcomeMessage {
  static readonly inject = ['unitOfWork', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_MESSAGE_CONTENT, UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { text }: TestWelcomeMessageInput): Promise<MessageId> {
    const realm = await this.uow.read(async ({ actors, realms }) => {
      enforce(canChangeRealm(await actors.get(caller), []));
      if (trim(text) === '') throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not be empty');
      return realms.get(caller.realmId);
    });
    const ahead = await this.systemMessages.parse(realm, text);
    return this.uow.write(async (tx) => {
      enforce(canChangeRealm(await tx.actors.get(caller), []));
      const user = (await tx.users.find(caller.realmId, caller.userId))!;
      return (await this.systemMessages.sendTestWelcome(tx, realm, user, { text, ahead })).id;
    });
  }
}
