import type { HttpFeature } from '../feature.js';
import { INVITATION_WIRE_ERRORS } from './invitation.errors.js';

export const INVITATIONS = { errors: INVITATION_WIRE_ERRORS } satisfies HttpFeature;
