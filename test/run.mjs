console.error('The lead: all work has ended (12:42); the final whole suite is running and needs the machine. Run nothing more: no tests, no tsc, no npm. Commit what you verified and send your report now.');
process.exit(1);
