export { type AvatarOutput, ChangeOwnAvatar, RemoveOwnAvatar } from './use-cases/change-own-avatar.js';
export { FindAvatar, type FoundAvatar, SpectateAvatar } from './use-cases/find-avatar.js';
