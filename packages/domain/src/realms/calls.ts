import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import type { Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';

/** Of the name, in code points: what BigBlueButton takes. */
export const MAX_MEETING_NAME_LENGTH = 512;

/** A call at a server of meetings. Nothing of it is stored: its link says all of it. */
export interface Meeting {
  readonly realmId: RealmId;
  /** What the server of meetings knows it by. */
  readonly key: string;
  readonly name: string;
  /** Nobody shows themselves by camera, unless the moderator lets them. */
  readonly isVoiceOnly: boolean;
  /** Whoever made the link. */
  readonly moderatorId: UserId;
}

/** Meetings as texts in links, which nobody but this server can make. */
export interface MeetingLinks {
  sign(meeting: Meeting): string;
  /** Null: this server did not sign it. */
  read(text: string): Meeting | null;
}

export interface Participant {
  readonly fullName: string;
  readonly isModerator: boolean;
}

/** Where meetings are held (organization §20). */
export interface MeetingServer {
  /**
   * Opens the meeting unless it is open. The address at which a browser takes part as that person, for now.
   * @throws DomainError MEETING_SERVER_UNREACHABLE, MEETING_SERVER_DENIED, MEETING_SERVER_FAILED
   */
  join(meeting: Meeting, participant: Participant): Promise<string>;
}

export interface CreateCallInput {
  /** As people call it. */
  readonly provider: 'Zoom' | 'Constructor Groups' | 'Nextcloud Talk' | 'Webex';
}

/** A call at a provider that the server would need an account with, and has none (organization §20). */
export class CreateCall {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError USER_DEACTIVATED, CALL_PROVIDER_UNAVAILABLE */
  async execute(caller: Caller, { provider }: CreateCallInput): Promise<never> {
    await this.uow.read(({ actors }) => actors.get(caller));
    throw new DomainError('CALL_PROVIDER_UNAVAILABLE', `${provider} credentials have not been configured`);
  }
}

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
