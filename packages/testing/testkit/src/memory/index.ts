export { type Damage, MemoryStorage } from '../memory-storage.js';
