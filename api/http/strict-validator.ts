// Validates JSON bodies as they are: no text becomes a number, and a member that the schema does not name is a fault. The
// framework's own validator converts and removes, which suits path and query texts.

import { Ajv } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';

const ajv = new Ajv({ strict: false });

/** `validatorCompiler` of a route with a body. Its path and query parameters must be texts. */
export const strictValidator: FastifySchemaCompiler<object> = ({ schema }) => ajv.compile(schema);
