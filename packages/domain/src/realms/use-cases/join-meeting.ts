import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { MeetingLinks, MeetingServer } from '../calls/meeting.js';

export interface JoinMeetingInput {
  /** As `CreateMeetingLink` answered it. */
  readonly link: string;
}

/** Leads somebody who followed a link to the meeting (organization §20). */
export class JoinMeeting {
  static readonly inject = ['unitOfWork', 'meetingLinks', 'meetingServer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly links: MeetingLinks,
    /** Null: there is none. */
    private readonly server: MeetingServer | null,
  ) {}

  /**
   * The address at which the caller takes part.
   * @throws DomainError USER_DEACTIVATED, CALL_PROVIDER_UNAVAILABLE, INVALID_MEETING_LINK, and as `MeetingServer` does
   */
  async execute(caller: Caller, { link }: JoinMeetingInput): Promise<string> {
    const { id, fullName } = await this.uow.read(async ({ actors, users }) => {
      const actor = await actors.get(caller);
      return (await users.find(actor.realmId, actor.id))!;
    });
    if (!this.server) throw new DomainError('CALL_PROVIDER_UNAVAILABLE', 'BigBlueButton is not configured.');
    const meeting = this.links.read(link);
    if (meeting?.realmId !== caller.realmId) throw new DomainError('INVALID_MEETING_LINK', 'Invalid signature.');
    return this.server.join(meeting, { fullName, isModerator: id === meeting.moderatorId });
  }
}
