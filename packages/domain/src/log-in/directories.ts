import type { UserId } from '../kernel/ids.js';
import type { StatedRole } from '../membership/stated-roles.js';

/** User entry in a directory. */
export interface DirectoryPerson {
  /** Immutable id in the directory. */
  readonly subject: string;
  readonly email: string;
  readonly fullName: string;
  /** Null if the directory does not determine the role, or failed to list the person's groups. */
  readonly role: StatedRole | null;
  /** Reason why the role is unknown, for administrators. */
  readonly problem?: string;
}

export interface DirectoryPicture {
  readonly bytes: Uint8Array;
  /** Digest of the bytes. */
  readonly digest: string;
}

/** LDAP directory that verifies passwords for one organization. Called outside transactions. */
export interface PeopleDirectory {
  /** Unique and stable, since linked accounts refer to it. */
  readonly name: string;
  /** String id of the organization. */
  readonly realm: string;
  /** True to create accounts for users who have not joined. */
  readonly createsPeople: boolean;
  /** Minutes between synchronizations; 0 for none. */
  readonly syncMinutes: number;
  /** Returns null if no entry has this address and password. @throws Error if the directory fails */
  authenticate(email: string, password: string): Promise<DirectoryPerson | null>;
  /** Returns all entries that may use the organization. @throws Error with the reason if the directory fails */
  listPeople(): Promise<readonly DirectoryPerson[]>;
  /** True if entries have pictures. */
  readonly hasPictures: boolean;
  /**
   * Returns the picture of an entry; null if there is none. @throws Error if it is larger than `maxBytes`, or if the
   * directory fails
   */
  findPicture(subject: string, maxBytes: number): Promise<DirectoryPicture | null>;
  /** Tests the configuration for the operator. @throws Error describing the problem */
  check(): Promise<string>;
}

/** Log-in method under which the directory's accounts are linked to users. */
export const directoryMethod = ({ name }: Pick<PeopleDirectory, 'name'>): string => `ldap-${name}`;

/** Maximum share of a directory's users that one synchronization may deactivate. */
export const MAX_DEACTIVATED_SHARE = 0.1;
/** Users changed per unit of work. Larger units are faster, but delay other writes. */
export const PEOPLE_AT_A_TIME = 2;
/** Maximum number of lines per list in a report. */
export const MAX_REPORTED = 1000;

export type DirectoryChange = 'created' | 'linked' | 'changed' | 'reactivated' | 'deactivated';

export interface DirectoryReport {
  /** Reason why nothing was changed; null if the synchronization was completed. */
  readonly stopped: string | null;
  /** True if it stopped because of deactivations that `acceptsDeactivations` would permit. */
  readonly isAcceptable: boolean;
  readonly people: number;
  readonly counts: Readonly<Record<DirectoryChange, number>>;
  /** Changes in directory order, at most `MAX_REPORTED`. */
  readonly changes: readonly { readonly email: string; readonly change: DirectoryChange }[];
  /** Users who could not be synchronized, with the reason; at most `MAX_REPORTED`. */
  readonly problems: readonly { readonly email: string; readonly reason: string }[];
}

/**
 * Returns the reason why a synchronization must not deactivate these users; null if it may. `present`: active users of
 * the directory.
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
