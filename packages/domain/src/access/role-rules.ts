import './permission-errors.js';
import { type Decision, denyIf } from '../kernel/permission.js';
import { type Actor, isAdministrator, isGuest, isOwner } from './actor.js';

/** Who may ask at all, whatever for (users §0, organization §1). */
export const mustBeOwner = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isOwner(actor), 'MUST_BE_OWNER', 'Must be an organization owner');

/** Owners are administrators too. */
export const mustBeAdministrator = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isAdministrator(actor), 'MUST_BE_ADMINISTRATOR', 'Must be an organization administrator');

export const mustNotBeGuest = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(isGuest(actor), 'MUST_NOT_BE_GUEST', 'Not allowed for guest users');

export const mustBeHuman = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(actor.isBot, 'MUST_NOT_BE_BOT', 'This endpoint does not accept bot requests.');

export const mustBeBot = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(!actor.isBot, 'MUST_BE_BOT', 'Must be a bot user');

/** The refusal of whatever has no text of its own. */
export const insufficientUnless = (granted: boolean): Decision =>
  denyIf(!granted, 'NOT_PERMITTED', 'Insufficient permission');
