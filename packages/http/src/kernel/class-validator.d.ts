/**
 * Deep imports that load only the needed parts of class-validator and class-transformer, because loading all delays the
 * start.
 */
declare module 'class-validator/cjs/decorator/common/Validate.js' {
  export { Validate } from 'class-validator';
}
declare module 'class-validator/cjs/metadata/MetadataStorage.js' {
  export { getMetadataStorage } from 'class-validator';
}
declare module 'class-validator/cjs/validation/Validator.js' {
  export { Validator } from 'class-validator';
}
declare module 'class-transformer/cjs/ClassTransformer.js' {
  export { ClassTransformer } from 'class-transformer';
}
declare module 'class-transformer/cjs/decorators/transform.decorator.js' {
  export { Transform } from 'class-transformer';
}
