/**
 * Entry point that only registers decorators, to load faster than the whole of class-validator. Both share one
 * metadata storage.
 */
declare module 'class-validator/cjs/register-decorator.js' {
  export { registerDecorator } from 'class-validator';
}
declare module 'class-validator/cjs/metadata/MetadataStorage.js' {
  export { getMetadataStorage } from 'class-validator';
}
/** Entry point that loads faster than the whole of class-transformer. */
declare module 'class-transformer/cjs/decorators/transform.decorator.js' {
  export { Transform } from 'class-transformer';
}
