import './invitation-errors.js';

export { type InvitationError, judgeInvitees } from './invitees.js';
