import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import type { Randomness } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';

/** Maximum length of a meeting name in code points, imposed by BigBlueButton. */
export const MAX_MEETING_NAME_LENGTH = 512;

/** Call on a meeting server. Not stored, since its link contains all data. */
export interface Meeting {
  readonly realmId: RealmId;
  /** Id on the meeting server. */
  readonly key: string;
  readonly name: string;
  /** True if cameras are off unless the moderator allows them. */
  readonly isVoiceOnly: boolean;
  /** Creator of the link. */
  readonly moderatorId: UserId;
}

/** Encodes meetings as signed link texts that only this server can create. */
export interface MeetingLinks {
  sign(meeting: Meeting): string;
  /** Returns null if this server did not sign the text. */
  read(text: string): Meeting | null;
}

export interface Participant {
  readonly fullName: string;
  readonly isModerator: boolean;
}

/** Server that hosts meetings (organization §20). */
export interface MeetingServer {
  /**
   * Opens the meeting if needed. Returns a temporary browser URL for this participant.
   * @throws DomainError MEETING_SERVER_UNREACHABLE, MEETING_SERVER_DENIED, MEETING_SERVER_FAILED
   */
  join(meeting: Meeting, participant: Participant): Promise<string>;
}

export interface CreateCallInput {
  /** Display name. */
  readonly provider: 'Zoom' | 'Constructor Groups' | 'Nextcloud Talk' | 'Webex';
}

/** Rejects calls by providers that need a server account, which is not supported (organization §20). */
export class CreateCall {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError USER_DEACTIVATED, CALL_PROVIDER_UNAVAILABLE */
  async execute(caller: Caller, { provider }: CreateCallInput): Promise<never> {
    await this.uow.read(caller.realmId, ({ actors }) => actors.get(caller));
    throw new DomainError('CALL_PROVIDER_UNAVAILABLE', `${provider} credentials have not been configured`);
  }
}

export interface CreateMeetingLinkInput {
  /** At most `MAX_MEETING_NAME_LENGTH` code points. */
  readonly name: string;
  readonly isVoiceOnly: boolean;
}

/**
 * Creates a link to a meeting that starts when the first user opens it (organization §20). Does not contact the meeting
 * server, so errors appear when the link is opened.
 */
export class CreateMeetingLink {
  static readonly inject = ['unitOfWork', 'meetingLinks', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly links: MeetingLinks,
    private readonly randomness: Randomness,
  ) {}

  /** Returns the signed link text. @throws DomainError USER_DEACTIVATED */
  async execute(caller: Caller, { name, isVoiceOnly }: CreateMeetingLinkInput): Promise<string> {
    const { id: moderatorId, realmId } = await this.uow.read(caller.realmId, ({ actors }) => actors.get(caller));
    return this.links.sign({ realmId, key: `parley-${this.randomness.uuid()}`, name, isVoiceOnly, moderatorId });
  }
}

export interface JoinMeetingInput {
  /** Link returned by `CreateMeetingLink`. */
  readonly link: string;
}

/** Joins the meeting of a link (organization §20). */
export class JoinMeeting {
  static readonly inject = ['unitOfWork', 'meetingLinks', 'meetingServer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly links: MeetingLinks,
    /** Null if no server is configured. */
    private readonly server: MeetingServer | null,
  ) {}

  /**
   * Returns the URL for the caller to join.
   * @throws DomainError USER_DEACTIVATED, CALL_PROVIDER_UNAVAILABLE, INVALID_MEETING_LINK, and the codes of
   * `MeetingServer`
   */
  async execute(caller: Caller, { link }: JoinMeetingInput): Promise<string> {
    const { id, fullName } = await this.uow.read(caller.realmId, async ({ actors, users }) => {
      const actor = await actors.get(caller);
      return await users.get(actor.realmId, actor.id);
    });
    if (!this.server) throw new DomainError('CALL_PROVIDER_UNAVAILABLE', 'BigBlueButton is not configured.');
    const meeting = this.links.read(link);
    if (meeting?.realmId !== caller.realmId) throw new DomainError('INVALID_MEETING_LINK', 'Invalid signature.');
    return this.server.join(meeting, { fullName, isModerator: id === meeting.moderatorId });
  }
}
