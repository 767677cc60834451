import type { RealmId, UserId } from '../../kernel/ids.js';

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
