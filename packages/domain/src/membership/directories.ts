import type { UserId } from '../kernel/ids.js';
import type { StatedRole } from './stated-roles.js';

/** Person as a directory describes them. */
export interface DirectoryPerson {
  /** Id in the directory, which never changes. */
  readonly subject: string;
  readonly email: string;
  readonly fullName: string;
  /** Null if the directory does not determine the role, or failed to list the person's groups. */
  readonly role: StatedRole | null;
  /** Reason why the role is not known, for administrators. */
  readonly problem?: string;
}

export interface DirectoryPicture {
  readonly bytes: Uint8Array;
  /** Changes with the bytes. */
  readonly digest: string;
}

/** Directory of one organization, whose passwords people use. Called outside transactions. */
export interface PeopleDirectory {
  /** Unique and stable, since linked accounts name it. */
  readonly name: string;
  /** String id of the organization. */
  readonly realm: string;
  /** True if people get an account without having joined. */
  readonly createsPeople: boolean;
  /** Time between synchronizations; 0 for none. */
  readonly syncMinutes: number;
  /** Returns null if nobody has the address and the password. @throws Error if the directory fails */
  authenticate(email: string, password: string): Promise<DirectoryPerson | null>;
  /** Returns everybody who may use the organization. @throws Error with the reason if the directory fails */
  listPeople(): Promise<readonly DirectoryPerson[]>;
  /** True if entries have pictures. */
  readonly hasPictures: boolean;
  /** Returns the picture of an entry; null without one. @throws Error if it is larger, or if the directory fails */
  findPicture(subject: string, maxBytes: number): Promise<DirectoryPicture | null>;
  /** Tries the configuration for the operator. @throws Error that says what is wrong */
  check(): Promise<string>;
}

/** Name under which accounts of the directory are linked to users. */
export const directoryMethod = ({ name }: Pick<PeopleDirectory, 'name'>): string => `ldap-${name}`;

/** A synchronization that would deactivate a larger share of the people of a directory stops. */
export const MAX_DEACTIVATED_SHARE = 0.1;
/** People whom one unit of work changes. */
export const PEOPLE_AT_A_TIME = 10;
/** Lines of a report. */
export const MAX_REPORTED = 1000;

export type DirectoryChange = 'created' | 'linked' | 'changed' | 'reactivated' | 'deactivated';

export interface DirectoryReport {
  /** Reason why nothing was changed; null if the synchronization went on. */
  readonly stopped: string | null;
  /** True if it stopped because of deactivations that `acceptsDeactivations` permits. */
  readonly isAcceptable: boolean;
  readonly people: number;
  readonly counts: Readonly<Record<DirectoryChange, number>>;
  /** Changes in order of the directory, at most `MAX_REPORTED`. */
  readonly changes: readonly { readonly email: string; readonly change: DirectoryChange }[];
  /** People who are not as the directory describes them, with the reason; at most `MAX_REPORTED`. */
  readonly problems: readonly { readonly email: string; readonly reason: string }[];
}

/**
 * Returns why a synchronization must not deactivate these people; null if it may. `present`: active people of the
 * directory.
 */
export function objectionTo(
  leaving: readonly { readonly id: UserId }[],
  { present, owners }: { readonly present: number; readonly owners: readonly UserId[] },
): string | null {
  const ids = new Set(leaving.map(({ id }) => id));
  if (owners.length > 0 && owners.every((id) => ids.has(id))) return 'It would deactivate the last owner.';
  if (leaving.length <= present * MAX_DEACTIVATED_SHARE) return null;
  return `It would deactivate ${leaving.length} of ${present} people.`;
}
