import { foldCase } from '@parley/domain/kernel';
import { isEmailAddress } from '@parley/domain/users';
import type { PersonRecord } from './records.js';

/** Row of the mapping file: assigns an account to a person of the source. */
export interface PersonMapping {
  /** Id, user name or email of the person in the source. */
  readonly person: string;
  readonly email: string;
  /** Null keeps the name of the source. */
  readonly name: string | null;
}

/** Reason for the account of a person. */
export type PersonMatch = 'mapping file' | 'verified email' | 'placeholder' | 'bot';

export interface MatchedPerson {
  readonly match: PersonMatch;
  /** Email of the account; null for placeholders and bots, which cannot log in. */
  readonly email: string | null;
  readonly name: string | null;
}

type Candidate = Pick<PersonRecord, 'id' | 'userName' | 'email' | 'isEmailVerified' | 'isBot'>;

export interface PeopleMatches {
  /** Keyed by id in the source. */
  readonly people: ReadonlyMap<string, MatchedPerson>;
  /** Rows that match nobody or, by a name or an email, several people. */
  readonly unusedMappings: readonly PersonMapping[];
}

/** Matches people of a source to accounts of a new organization. */
export function matchPeople(people: readonly Candidate[], mappings: readonly PersonMapping[]): PeopleMatches {
  const byId = grouped(people, ({ id }) => id);
  const byUserName = grouped(people, ({ userName = '' }) => foldCase(userName));
  const byEmail = grouped(people, ({ email = '' }) => foldCase(email));
  const mapped = new Map<string, PersonMapping>();
  const unusedMappings: PersonMapping[] = [];
  for (const mapping of mappings) {
    // An id takes precedence, because people choose their names.
    const folded = foldCase(mapping.person);
    const found = byId.get(mapping.person) ?? byUserName.get(folded) ?? byEmail.get(folded) ?? [];
    const [person] = found;
    if (person && found.length === 1 && !mapped.has(person.id)) mapped.set(person.id, mapping);
    else unusedMappings.push(mapping);
  }
  return {
    people: new Map(people.map((person) => [person.id, matchOf(person, mapped.get(person.id))])),
    unusedMappings,
  };
}

function matchOf(person: Candidate, mapping: PersonMapping | undefined): MatchedPerson {
  if (mapping) return { match: 'mapping file', email: mapping.email, name: mapping.name };
  if (person.isBot) return { match: 'bot', email: null, name: null };
  const { email, isEmailVerified } = person;
  if (isEmailVerified && email !== undefined && isEmailAddress(email)) {
    return { match: 'verified email', email, name: null };
  }
  return { match: 'placeholder', email: null, name: null };
}

function grouped(people: readonly Candidate[], keyOf: (person: Candidate) => string): Map<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>();
  for (const person of people) {
    const group = groups.get(keyOf(person));
    if (group) group.push(person);
    else groups.set(keyOf(person), [person]);
  }
  return groups;
}
