export { Avatar } from '../kit/avatar.js';
