export { storageContracts } from './all-contracts.js';
