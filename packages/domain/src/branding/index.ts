export { ChangeRealmImage, RemoveRealmImage } from './use-cases/change-realm-image.js';
export { FindOwnRealm } from './use-cases/find-own-realm.js';
