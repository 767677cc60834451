export { type Described, type Field, fieldsOf, responseOf, typeOf } from './client-api.js';
export { compactResponseSchemaOf, type OpenApiDocument, type OpenApiOperation, openApiOf } from './openapi.js';
