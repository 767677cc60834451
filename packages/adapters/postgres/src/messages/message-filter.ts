import { type Narrowing as NarrowingIn, newNarrowPlanner, type Restriction as RestrictionIn } from '@parley/storage';
import { CONDITION_WRITER } from './conditions.js';

/** Lists are PostgreSQL arrays. */
export type Narrowing = NarrowingIn<readonly (string | number)[]>;
export type Restriction = RestrictionIn<readonly (string | number)[]>;

export const { toNarrowing, narrowingTo, narrowedTo, between, EVERYTHING } = newNarrowPlanner(CONDITION_WRITER);
