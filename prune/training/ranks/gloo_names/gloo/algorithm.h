// See context.h: nothing of it is named.
#pragma once
