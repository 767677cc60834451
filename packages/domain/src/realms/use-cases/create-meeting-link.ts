import type { Caller } from '../../kernel/caller.js';
import type { Randomness } from '../../kernel/clock.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { MeetingLinks } from '../calls/meeting.js';

export interface CreateMeetingLinkInput {
  /** `MAX_MEETING_NAME_LENGTH` at most. */
  readonly name: string;
  readonly isVoiceOnly: boolean;
}

/**
 * A link to a meeting that begins when the first one follows it (organization §20). It is made without asking the server of
 * meetings, even where there is none: that is said to those who follow it.
 */
export class CreateMeetingLink {
  static readonly inject = ['unitOfWork', 'meetingLinks', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly links: MeetingLinks,
    private readonly randomness: Randomness,
  ) {}

  /** What the link says of the meeting. @throws DomainError USER_DEACTIVATED */
  async execute(caller: Caller, { name, isVoiceOnly }: CreateMeetingLinkInput): Promise<string> {
    const { id: moderatorId, realmId } = await this.uow.read(({ actors }) => actors.get(caller));
    return this.links.sign({ realmId, key: `parley-${this.randomness.uuid()}`, name, isVoiceOnly, moderatorId });
  }
}
