export { compactResponseSchemaOf } from './openapi.js';
