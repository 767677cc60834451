export { type InvitationError, judgeInvitees } from './invitees.js';
